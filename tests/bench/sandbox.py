"""What the sandbox costs: `python -m tests.bench.sandbox [runs] [files]`.

Runs `true` in bash through the session's own spawn: bare, in a sandbox made for it, and in one that
was prepared while nobody waited, in a project with a repository and that many files, one after the
other so that the machine's mood hits all. Prints milliseconds and fails where what is added exceeds
a budget.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.machine import machine
from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.system.processes import spawn

ANEW = 15.0  # ms, of the 95th percentile of what a sandbox made for it adds
WAITING = (2.0, 4.0)  # of the median and the 95th percentile, where one was prepared
ENV = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}


async def once(request: SpawnRequest) -> None:
    child = await spawn(request)
    while await child.read():
        pass
    code = await child.wait()
    assert code == 0, code


async def measure(box: Sandbox, cwd: Path, runs: int) -> dict[str, list[float]]:
    """Milliseconds of each run: bare, made for it, prepared."""
    found: dict[str, list[float]] = {"bare": [], "anew": [], "waiting": []}
    argv = ("/bin/bash", "--noprofile", "--norc", "-c", "true")
    plain = SpawnRequest(argv=argv, cwd=cwd, env=ENV, script=True)
    for _ in range(runs):
        for name, times in found.items():
            if name == "waiting":
                box.stand_by(plain)
                await asyncio.sleep(0.03)  # the model thinks
            start = time.perf_counter()
            request = plain if name == "bare" else box.confine(plain)
            assert (request.begun is not None) == (name == "waiting")
            await once(request)
            times.append((time.perf_counter() - start) * 1000)
    return found


def prepare(place: Path, files: int) -> Path:
    project = place / "proj"
    project.mkdir()
    for number in range(files):
        folder = project / "src" / f"d{number // 20}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.py").write_text("x = 1\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    return project


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def main(runs: int = 200, files: int = 400) -> int:
    with tempfile.TemporaryDirectory(prefix="gatewright-bench-") as place:
        project = prepare(Path(place), files)
        temp = Path(place) / "tmp"
        temp.mkdir()
        home, state = Path(ENV["HOME"]), Path(place) / "state"
        config = Config(cwd=project, home=home, roots=(project,), temp=temp, state=state)
        box = Sandbox(config, machine())
        try:
            asyncio.run(measure(box, project, 5))
            found = asyncio.run(measure(box, project, runs))
        finally:
            box.close()
    bare = found["bare"]
    for name in ("anew", "waiting"):
        found[f"+ {name}"] = [more - less for more, less in zip(found[name], bare, strict=True)]
    for name, values in found.items():
        row = [percentile(values, part) for part in (0.5, 0.95, 0.99)]
        print(f"{name.ljust(9)} p50 {row[0]:6.2f}  p95 {row[1]:6.2f}  p99 {row[2]:6.2f} ms")
    return said(found)


def said(found: dict[str, list[float]]) -> int:
    budgets = (
        ("+ anew", 0.95, ANEW),
        ("+ waiting", 0.5, WAITING[0]),
        ("+ waiting", 0.95, WAITING[1]),
    )
    missed = 0
    for name, part, most in budgets:
        over = percentile(found[name], part) > most
        missed += over
        print(f"{name}, p{part * 100:.0f} at most {most:g} ms: {'missed' if over else 'kept'}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
