"""What skills cost, each figure beside what it is compared with, in one run.

`python -m tests.bench.skills [--runs N] [--only WORD] [--check]` prints the rows of the targets;
`--check` fails where one is missed. Times are of the processor: others use the machine as well.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from gatewright.agent.extensions.skills.telling import SkillTelling
from gatewright.agent.extensions.skills.uses import Uses
from gatewright.skills.shown.listing import PER_TOKEN, budget
from tests.bench import skill_use
from tests.bench.figures import MS, Verdict, at_most, ratio
from tests.e2e.program import AGENT, Program
from tests.fakes.model_server import ServerThread
from tests.skills.trees import Tree, settle

COUNT = 200
WINDOW = 200_000
ASK = ("-p", "hi", "--model", "anthropic/claude-haiku-4-5")
ABOUT = (
    "description: Does the thing number {n}, checks it, and says what came of it. Use when somebody"
    " asks for number {n}, or wants it done again\nallowed-tools: Read, Bash(git status:*)"
)
BODY = "# Title\n\n" + "Do this, then that, and look at what came of it.\n" * 60


def fill(tree: Tree, count: int = COUNT) -> Tree:
    for n in range(count):
        tree.skill(tree.home / ".claude" / "skills", f"skill-{n:03}", ABOUT.format(n=n), BODY)
    settle(tree.top)
    return tree


def median_ms(act: Callable[[], object], runs: int) -> float:
    act()
    times: list[float] = []
    for _ in range(runs):
        began = time.thread_time()
        act()
        times.append((time.thread_time() - began) * MS)
    return statistics.median(times)


def looks(top: Path, runs: int) -> Sequence[Verdict]:
    """In one process: a turn's start, the list, and what is held in memory."""
    tree = fill(Tree(top / "looks"))
    book = tree.book()
    book.now()
    uses = Uses(top / "skills.json", lambda: 0.0)
    telling = SkillTelling(
        book, uses, room=lambda: budget(WINDOW), cwd=lambda: tree.root, warn=print, tell=print
    )
    section = telling.section()

    def turn() -> None:
        """As a session does it: for the model, and for the menu."""
        telling.words()
        book.last()

    def fresh() -> None:
        other = SkillTelling(
            book, uses, room=lambda: budget(WINDOW), cwd=lambda: tree.root, warn=print, tell=print
        )
        other.section()

    return [
        at_most("turn start, nothing changed, 200 skills", median_ms(turn, runs * 5), 2.0, "ms"),
        at_most("listing of 200 skills", median_ms(fresh, runs * 5), 3.0, "ms"),
        at_most("tokens of that list", len(section.encode()) / PER_TOKEN, WINDOW / 100, "tokens"),
    ]


class Started:
    """What one start took: seconds of the processor, and the most memory, in KB."""

    def __init__(self, program: Program, url: str) -> None:
        env = program.env(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=url)
        with subprocess.Popen(
            [AGENT, *ASK],
            cwd=program.project,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        self.seconds = used.ru_utime + used.ru_stime
        self.rss = used.ru_maxrss


def starts(top: Path, runs: int) -> Sequence[Verdict]:
    """`-p` beside a home without skills; cold is a home whose index is gone."""
    homes: list[Program] = []
    for name in ("none", "warm", "cold"):
        (top / name).mkdir()
        homes.append(Program.prepare(top / name))
    for made in homes[1:]:
        tree = Tree(made.home.parent)
        tree.home = made.home
        fill(tree)
    times: dict[str, list[float]] = {"none": [], "warm": [], "cold": []}
    most: dict[str, list[float]] = {"none": [], "warm": [], "cold": []}
    index = homes[2].home / ".gatewright" / "state" / "skills"
    with ServerThread("say: x\n", repeat=True) as model:
        for run in range(runs + 1):
            for name, made in zip(times, homes, strict=True):
                if name == "cold":
                    shutil.rmtree(index, ignore_errors=True)
                started = Started(made, model.url)
                if run:  # the first fills caches
                    times[name].append(started.seconds)
                    most[name].append(started.rss)
        told = [len(json.dumps(body)) for body in model.bodies[-3:]]
    more = (statistics.median(most["warm"]) - statistics.median(most["none"])) / 1024
    listed = Verdict("the list is in the request", f"{told[1] - told[0]:,} bytes", "> 5,000",
                     told[1] - told[0] > 5_000)  # fmt: skip
    return [
        ratio("first request of -p, 200 / none, warm", times["warm"], times["none"], 1.03),
        ratio("first request of -p, 200 / none, cold", times["cold"], times["none"], 1.0, more=60),
        at_most("RSS, 200 skills beside none", more, 2.0, "MB"),
        listed,
    ]


ROWS = (looks, starts, *skill_use.ROWS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", default="", help="groups whose name contains this")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as directory:
        for rows in ROWS:
            if options.only not in rows.__name__:
                continue
            for row in rows(Path(directory), options.runs):
                sys.stdout.write(row.line())
                sys.stdout.flush()
                missed = missed or not row.good
    return int(missed and options.check)


if __name__ == "__main__":
    sys.exit(main())
