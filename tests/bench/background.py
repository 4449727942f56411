"""What sessions in the background cost: beginning one, listing twenty, an event on its way to a
front end, and one that only waits.

`python tests/bench/background.py [--runs N] [--seconds N] [--check]`. The program, its processes
and sockets are the real ones. A run counts by its processor time, the least of all, since a wall
says on a busy machine how busy it is; on a quiet one they are the same, and both are shown.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gatewright.agent.autonomy.running.running_record import Record, read, write
from gatewright.agent.autonomy.running.socket_places import record_file, records_folder
from gatewright.agent.autonomy.running.viewers import Viewers
from gatewright.agent.record.events import Noticed
from gatewright.tools.system.lifetimes import ours
from tests.bench.figures import MS, Verdict, at_most, rss
from tests.e2e.program import Program
from tests.fakes.fake_session import FakeSession
from tests.fakes.waiting import eventually, until

PS, BG, EVENT, RSS, WAKES = 60.0, 150.0, 5.0, 60.0, 1.0
MANY = 20
EVENTS, PAUSE = 300, 0.01
FOLLOW = {"type": "control_request", "request_id": "r", "request": {"subtype": "session_follow"}}


class Took(NamedTuple):
    """Milliseconds."""

    work: float
    wall: float


def took(program: Program, *words: str) -> Took:
    began, before = time.perf_counter(), _work()
    done = program.run(*words)
    assert done.returncode == 0, done.stderr
    return Took((_work() - before) * MS, (time.perf_counter() - began) * MS)


def _work() -> float:
    """Of all children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def least(name: str, runs: Sequence[Took], target: float) -> Verdict:
    wall = min(each.wall for each in runs)
    name = f"{name} (wall {wall:.0f} ms)"
    return at_most(name, min(each.work for each in runs), target, "ms")


def records(program: Program) -> Iterator[Record]:
    for path in records_folder(program.home / ".gatewright").glob("*.json"):
        if (found := read(path)) is not None:
            yield found


@contextmanager
def begun(program: Program, runs: int) -> Generator[tuple[list[Took], Record]]:
    """Sessions that have said something and wait; how long each beginning took."""
    try:
        words = ("bg", "hello", "--model", "demo", "--here")
        each_took = [took(program, *words) for _ in range(runs)]
        until(lambda: all(each.state == "done" for each in records(program)))
        yield each_took, next(records(program))
    finally:
        for each in records(program):
            subprocess.run(["/bin/kill", "-9", str(each.pid)], check=False)
            Path(each.socket).unlink(missing_ok=True)


@contextmanager
def twenty(program: Program) -> Generator[None]:
    """As many live records, each with a conversation that is held."""
    home, us = program.home / ".gatewright", ours()
    with ExitStack() as stack:
        for number in range(MANY):
            id = f"01a1f864-970d-7c99-a50e-{number:012d}"
            file = home / "projects" / "p" / f"{id}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            held = stack.enter_context(file.open("w", encoding="utf-8"))
            fcntl.flock(held, fcntl.LOCK_EX)
            made = Record(id=id, pid=us.pid, start=us.start, transcript=str(file), title="x" * 80)
            write(record_file(home, id), made)
        yield


def waits(pid: int) -> int:
    """How often its threads went to sleep."""
    count = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        for line in (task / "status").read_text(encoding="utf-8").splitlines():
            if line.startswith("voluntary_ctxt"):
                count += int(line.split()[1])
    return count


def wakes(pid: int, seconds: float) -> float:
    """A minute."""
    before = waits(pid)
    time.sleep(seconds)
    return (waits(pid) - before) * 60 / seconds


async def tells(path: Path) -> None:
    """The session's side: an event now and then, with the moment at which it happened."""
    session = FakeSession()
    viewers = Viewers(
        session, path, conversations="/nowhere", stop=sys.exit, changed=lambda _: None
    )
    print("ready", flush=True)
    await eventually(lambda: len(viewers) > 0)
    for _ in range(EVENTS):
        await asyncio.sleep(PAUSE)
        session.publish(Noticed(text=str(time.monotonic_ns())))
    await viewers.close("over")


def events() -> list[float]:
    """Milliseconds from what happened to the line in another process."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path = Path(folder) / "s"
        argv = [sys.executable, __file__, "--tell", str(path)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as told:
            assert told.stdout is not None
            told.stdout.readline()
            with socket.socket(socket.AF_UNIX) as front:
                front.connect(str(path))
                front.sendall(json.dumps(FOLLOW).encode() + b"\n")
                return list(_late(front))


def _late(front: socket.socket) -> Iterator[float]:
    with front.makefile("rb") as lines:
        for line in lines:
            now = time.monotonic_ns()
            event = json.loads(line).get("event", {})
            if event.get("type") == "notice":
                yield (now - int(event["text"])) / 1e6


def measured(runs: int, seconds: float) -> Sequence[Verdict]:
    found: list[Verdict] = []
    late = sorted(events())
    found.append(at_most("an event to a front end, median", late[len(late) // 2], EVENT, "ms"))
    with tempfile.TemporaryDirectory() as folder:
        program = Program.prepare(Path(folder)).cold
        with twenty(program):
            listed = [took(program, "ps") for _ in range(runs)]
            found.append(least("agent ps of 20", listed, PS))
        for path in records_folder(program.home / ".gatewright").glob("*.json"):
            path.unlink()
        with begun(program, min(runs, 5)) as (each_took, one):
            found.append(least("agent bg returns", each_took, BG))
            found.append(at_most("one that waits: memory", rss(one.pid) / 1024, RSS, "MB"))
            found.append(at_most("one that waits: wakes", wakes(one.pid, seconds), WAKES, "a min"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    parser.add_argument("--tell", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.tell:
        asyncio.run(tells(Path(asked.tell)))
        return 0
    os.environ.pop("GATEWRIGHT_HOME", None)
    verdicts = measured(asked.runs, asked.seconds)
    sys.stdout.write("".join(each.line() for each in verdicts))
    return int(asked.check and not all(each.good for each in verdicts))


if __name__ == "__main__":
    sys.exit(main())
