"""kill -9 of a session in the background at any moment: what its conversation says has ended has
happened, once, and nothing that nobody heard of."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
from pathlib import Path

import pytest

from gatewright.tools.system.locks import busy
from tests.background.stage import BELOW, Stage, stage
from tests.e2e.program import Program
from tests.e2e.stage import MODEL, served
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import until

CALLS = 8
LINE = 'call[c{0}]: Bash {{"command": "echo {0} >> done.txt", "description": "Count"}}\n---\n'
SCRIPT = "".join(LINE.format(number) for number in range(CALLS)) + "say: Counted.\n"
AFTER = "say: I go on.\n"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(BELOW, reason="a test of a session speaks for no person"),
]


def done(project: Path) -> list[str]:
    """What the commands have done."""
    file = project / "done.txt"
    return file.read_text(encoding="utf-8").split() if file.exists() else []


def nobody_in(folder: Path) -> bool:
    """Whether no process works there: a command outlives who was killed, as far as it comes."""
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdecimal() and (process / "cwd").readlink() == folder:
                return False
    return True


def told(transcript: Path) -> tuple[list[str], list[str]]:
    """Which calls have begun, and which have ended well, as the conversation has it."""
    begun: list[str] = []
    ended: list[str] = []
    for line in transcript.read_bytes().splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # torn by the kill
            continue
        if event["type"] == "tool_started":
            begun.append(event["call_id"][1:])
        elif event["type"] == "tool_finished" and event["ok"]:
            ended.append(event["call_id"][1:])
    return begun, ended


def killed_at(at: Stage, kills: random.Random) -> None:
    project, wanted = at.program.project, kills.randrange(CALLS + 1)
    id = at.begin("Count.", "--model", MODEL, "-y")
    until(lambda: len(done(project)) >= wanted, what=f"{wanted} of them: {at.told(id)}")
    for _ in range(kills.randrange(2_000)):
        pass
    record = at.record(id)
    os.kill(record.pid, signal.SIGKILL)
    until(lambda: not record.process.lives(), what="its end")
    until(lambda: not any(map(busy, at.program.transcripts())), what="the end of its threads")
    until(lambda: nobody_in(project), what="the end of the command that it had started")
    rows = {row["id"]: row for row in at.listed("--all")}
    effects, files = done(project), at.program.transcripts()
    if not files:  # before its first word: nobody finds it again, and nothing was done
        assert effects == []
        assert id not in rows
        return
    assert (rows[id]["live"], rows[id]["state"]) == (False, "interrupted")
    begun, ended = told(files[-1])
    assert set(ended) <= set(effects) <= set(begun)
    assert len(effects) == len(set(effects)), "done twice"
    with ServerThread(AFTER) as server:
        again = at.agent("-p", "Go on.", "--resume", id, "--model", MODEL, **served(server))
    assert again.returncode == 0, again.stderr
    assert done(project) == effects, "what was interrupted never runs by itself"


def run(program: Program, seed: int) -> None:
    program.unconfined()
    with ServerThread(SCRIPT) as server, stage(program, served(server)) as at:
        killed_at(at, random.Random(seed))


def test_killed_at_one_moment(program: Program) -> None:
    run(program, 7)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(25))
def test_killed_at_any_moment(program: Program, seed: int) -> None:
    run(program, seed)
