"""Random keys, pastes, mouse, resizes and events over every screen; finds the few that break it.

`python -m tests.tui.fuzz [--steps 20000] [--seed N]`; `--replay FILE` does what it wrote down.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.tui.fuzz_play import Failure, run
from tests.tui.fuzz_steps import Step, script

LIFE = 1000  # steps per seed
SHRINKING = 90.0  # seconds
GROWTH = 150  # MB a process may grow after its first seed
# Nothing typed here runs: own commands are echoed, the editor leaves the draft as it is.
ENVIRONMENT: Mapping[str, str] = {"SHELL": "/bin/echo", "VISUAL": "true", "PATH": "/usr/bin:/bin"}
WITHOUT = ("DISPLAY", "WAYLAND_DISPLAY", "NO_COLOR")


def project(folder: Path) -> Path:
    """A project with names that nobody wants."""
    for name in (
        "plain.txt",
        "a b.txt",
        "\u6f22\u5b57.md",
        "\u202egnp.exe",
        "e\u0301\x1b[1m",
        "x" * 200,
    ):
        (folder / name).write_text("", encoding="utf-8")
    (folder / "src").mkdir()
    return folder


def failure_of(steps: Sequence[Step], cwd: str) -> Failure | None:
    try:
        asyncio.run(run(steps, cwd))
    except Failure as failure:
        return failure
    return None


def shrunk(steps: Sequence[Step], failure: Failure, cwd: str) -> list[Step]:
    """A short list of steps that breaks in the same way."""
    best = [*steps[: failure.number + 1], Step("look")]
    end, size = time.monotonic() + SHRINKING, len(best) // 2
    while size and time.monotonic() < end:
        at = 1
        while at < len(best) and time.monotonic() < end:
            shorter = [*best[:at], *best[at + size :]]
            again = failure_of(shorter, cwd)
            if again is not None and again.kind == failure.kind:
                best = shorter
            else:
                at += size
        size = size // 2
    return best


def told(failure: Failure, steps: Sequence[Step], seed: int) -> str:
    path = Path(tempfile.gettempdir()) / f"fuzz-{seed}.json"
    path.write_text(json.dumps(steps), encoding="utf-8")
    listed = "\n".join(f"  {step.kind} {step.arguments!r}" for step in steps[-40:])
    return f"seed {seed}: {failure}\n{listed}\n--replay {path} does these {len(steps)} steps"


def resident() -> float:
    """Megabytes this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", type=Path)
    options = parser.parse_args()
    os.environ.update(ENVIRONMENT)
    for name in WITHOUT:
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        cwd = str(project(Path(folder)))
        if options.replay:
            steps = [Step(*step) for step in json.loads(options.replay.read_text("utf-8"))]
            asyncio.run(run(steps, cwd))
            return 0
        return many(options.steps, options.seed, cwd)


def many(steps: int, seed: int, cwd: str) -> int:
    """One seed after the other; the exit code is how many of them broke."""
    broken, first = 0, 0.0
    for number in range(seed, seed + max(1, steps // LIFE)):
        made, begun = script(number, min(LIFE, steps)), time.monotonic()
        failure = failure_of(made, cwd)
        if failure is not None:
            broken += 1
            print(f"seed {number}: {failure}\nlooking for less", flush=True)
            print(told(failure, shrunk(made, failure, cwd), number), flush=True)
            continue
        gc.collect()
        first = first or resident()
        took = time.monotonic() - begun
        print(f"seed {number}: fine, {took:.1f} s, {resident():.0f} MB", flush=True)
        if resident() > first + GROWTH:
            print(f"the process grew from {first:.0f} MB", flush=True)
            return broken + 1
    return broken


if __name__ == "__main__":
    sys.exit(main())
