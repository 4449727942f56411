"""Links and directories exchanged while tools run: `python -m tests.tools.races --rounds 10000`.

A process of its own exchanges them as fast as it can; each call goes through the gate, in front of
which nobody says yes. No call may ever say or change anything of what lies outside the project.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.files.fs import ReadLedger
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import ToolCall
from gatewright.tools.registry import TOOLS, BuiltinTools
from gatewright.tools.system.processes import spawn
from tests.fakes.executor import context, executed, text_of
from tests.fakes.waiting import PATIENCE

SECRET = "precious"
LINES = 400  # enough for a search to take a while
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("Grep", {"pattern": "needle", "path": "link", "output_mode": "content"}),
    ("Grep", {"pattern": "needle", "output_mode": "content", "head_limit": 0}),
    ("Grep", {"pattern": SECRET}),
    ("Grep", {"pattern": SECRET, "output_mode": "count"}),
    ("Grep", {"pattern": "needle", "path": "link/f.txt", "output_mode": "content"}),
    ("Grep", {"pattern": "needle", "path": "file.txt", "output_mode": "content"}),
    ("Glob", {"pattern": "**/*.txt"}),
    ("Glob", {"pattern": "**/*.txt", "path": "link"}),
    ("Read", {"file_path": "link/f.txt"}),
    ("Read", {"file_path": "folder/f.txt"}),
    ("Read", {"file_path": "file.txt"}),
    ("NotebookRead", {"notebook_path": "link/n.ipynb"}),
    ("Read", {"file_path": "folder/nowhere.txt"}),
    ("Write", {"file_path": "folder/new.txt", "content": "harmless\n"}),
    ("Write", {"file_path": "folder/more/new.txt", "content": "harmless\n"}),
)
GIVE = ("Read", "Grep", "Glob")  # a race that always refuses would show nothing
_NOTEBOOK = '{{"cells": [{{"cell_type": "raw", "metadata": {{}}, "source": "{word}"}}]}}'


def grow(base: Path) -> Path:
    """The project beside what it must not reach; the names of both are the same."""
    project, outside = base / "project", base / "outside"
    for place, word in ((project / "inside", "harmless"), (outside, SECRET)):
        for number in range(20):
            folder = place / f"d{number}"
            folder.mkdir(parents=True)
            (folder / "f.txt").write_text(f"{word} needle\n" * LINES, encoding="utf-8")
        (place / "f.txt").write_text(f"{word} needle\n", encoding="utf-8")
        (place / "n.ipynb").write_text(_NOTEBOOK.format(word=word), encoding="utf-8")
    (outside / f"{SECRET}.txt").write_text(f"{SECRET} needle\n", encoding="utf-8")
    (project / "link").symlink_to("inside")
    (project / ".link").symlink_to(outside)
    (project / "inside").joinpath("x.txt").write_text("harmless\n", encoding="utf-8")
    subprocess.run(["cp", "-r", project / "inside", project / "folder"], check=True)
    (project / ".folder").symlink_to(outside)
    (project / "file.txt").write_text("harmless needle\n", encoding="utf-8")
    (project / ".file.txt").symlink_to(outside / "f.txt")
    return project


def exchange(project: Path) -> None:
    """Runs in a process of its own, until its standard input ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    pairs = [(project / name, project / f".{name}") for name in ("link", "folder", "file.txt")]
    os.set_blocking(0, False)
    for one, other in itertools.cycle(pairs):
        libc.renameat2(-100, bytes(one), -100, bytes(other), 2)  # both names at once
        try:
            if not os.read(0, 1):
                return
        except BlockingIOError:
            continue


@contextmanager
def exchanging(project: Path) -> Generator[None]:
    command = [sys.executable, "-m", "tests.tools.races", "--exchange", str(project)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=root) as process:
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(PATIENCE)


async def race(base: Path, rounds: int, seconds: float = 1e9) -> Counter[str]:
    """How the calls ended. AssertionError where one reached outside."""
    project = grow(base)
    outside = {path: path.read_bytes() for path in (base / "outside").rglob("*.txt")}
    rules = {"user": RuleTexts(allow=("Edit(/**)",))}
    policy = Policy(PolicyConfig(root=project, cwd=project, home=base / "home", rules=rules))
    executor = gated([BuiltinTools(TOOLS)], policy, GatePorts())

    async def nobody(ask: Ask) -> Answer:
        return Answer(("no",))

    ctx = msgspec.structs.replace(
        context(project), ledger=ReadLedger(), spawn=spawn, ask=nobody, spill=base / "spill"
    )
    ended: Counter[str] = Counter()
    until = time.monotonic() + seconds
    with exchanging(project):
        for number, (tool, input) in zip(range(rounds), itertools.cycle(CALLS), strict=False):
            result = await executed(executor, ToolCall(str(number), tool, dict(input)), ctx)
            said = text_of(result).replace(f"{SECRET!r}", "")
            assert SECRET not in said, (tool, input, said[:500])
            ended[f"{tool} {'gave' if result.ok else 'was refused'}"] += 1
            ctx.ledger.forget_shown() if isinstance(ctx.ledger, ReadLedger) else None
            if time.monotonic() > until and all(ended[f"{name} gave"] for name in GIVE):
                break
    now = {path: path.read_bytes() for path in (base / "outside").rglob("*.txt")}
    assert now == outside, sorted(set(now) ^ set(outside))
    return ended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--exchange", type=Path)
    given = parser.parse_args()
    if given.exchange is not None:
        exchange(given.exchange)
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        ended = asyncio.run(race(Path(os.path.realpath(folder)), given.rounds))
    for what, count in sorted(ended.items()):
        print(f"{count:7,} {what}")
    print(
        f"{sum(ended.values()):7,} calls in {time.monotonic() - began:.0f} s, none reached outside"
    )


if __name__ == "__main__":
    main()
