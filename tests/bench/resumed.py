"""How long until a stored session of 5,000 messages is painted, and 2,000 sessions are listed.

`python -m tests.bench.resumed [--runs 7] [--check]`. The real program in a terminal: from exec to
the last message on the screen, in turn with an empty start until its session is there; and from
Enter behind `/resume` to the list, in turn with that of a folder with ten sessions.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from gatewright.agent.record.events import AnyEvent, TurnEnded
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.turn.stop import Stop
from tests.bench.figures import Verdict, at_most, ratio
from tests.e2e.program import Program
from tests.fakes.terminal import Terminal
from tests.transcript.stored import answer, chained, started, user, write

MESSAGES, SESSIONS = 5_000, 2_000
RATIO, PICKER_MS = 1.1, 100.0
PER_TURN = 2
WORDS = "The lease is renewed after the work, so a *slow* task loses `it` half way. " * 4


def stored(program: Program, name: str, turns: int) -> None:
    folder = project_folder(program.home / ".gatewright", program.project)
    folder.mkdir(parents=True, exist_ok=True)
    events: list[AnyEvent] = [started()]
    for number in range(turns):
        events += [user(f"prompt {number}"), answer(f"answer {number}: {WORDS}")]
        events.append(TurnEnded(stop=Stop.COMPLETED))
    write(folder / f"{name}.jsonl", chained(events), cwd=str(program.project))


def shown(program: Program, *arguments: str, wanted: tuple[str, ...]) -> float:
    """Seconds from exec until all of that is on the screen."""
    began = time.perf_counter()
    argv = [*program.argv, "--model", "demo", *arguments]
    with Terminal(argv, cwd=program.project, env=program.env(), rows=40, columns=120) as terminal:
        terminal.wait_for(*wanted)
        return time.perf_counter() - began


def picked(program: Program) -> float:
    """Seconds from Enter behind /resume to the list."""
    argv = [*program.argv, "--model", "demo"]
    with Terminal(argv, cwd=program.project, env=program.env(), rows=40, columns=120) as terminal:
        terminal.wait_for("default")
        terminal.send("/resume")
        terminal.look(0.8)
        began = time.perf_counter()
        terminal.press("enter")
        terminal.wait_for("Esc stays here")
        return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        program = Program.prepare(Path(os.path.realpath(name)))
        turns = MESSAGES // PER_TURN
        stored(program, "long", turns)
        empty, long = list[float](), list[float]()
        for number in range(given.runs + 1):
            one = shown(program, wanted=("default   demo",))
            other = shown(
                program, "--resume", "long", wanted=(f"answer {turns - 1}", "default   demo")
            )
            if number:
                empty.append(one)
                long.append(other)
        rows: list[Verdict] = [ratio(f"{MESSAGES} messages painted", long, empty, RATIO)]
        for number in range(SESSIONS):
            stored(program, f"other-{number}", 1)
        times = [picked(program) * 1000 for _ in range(given.runs)]
        listed = statistics.median(times)
        rows.append(at_most(f"list of {SESSIONS} sessions", listed, PICKER_MS, "ms"))
    sys.stdout.write(f"load {os.getloadavg()[0]:.1f}\n" + "".join(row.line() for row in rows))
    return int(given.check and not all(row.good for row in rows))


if __name__ == "__main__":
    sys.exit(main())
