"""kill -9 of us leaves nothing of another program that works as an agent."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.e2e.test_crash import MODEL, keys
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import PATIENCE, until
from tests.foreign.stories import confined, defined

pytestmark = [pytest.mark.e2e, confined]
CALL = {"description": "x", "prompt": "do it", "subagent_type": "other"}


def at_work(mark: str) -> list[int]:
    """Processes whose command line names this."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:  # it is gone meanwhile
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found


def test_nothing_of_it_is_left(program: Program) -> None:
    folder = program.home.parent
    assert program.home.name == "home"
    defined(folder, [[{"say": "I work."}, {"ignore": 1}]])
    mark = str(program.home / "other.py")
    with ServerThread(f"call: Agent {json.dumps(CALL)}\n---\nsay: x", repeat=True) as server:
        running = program.cold.start("-p", "Go.", "--model", MODEL, "-y", env=keys(server))
        with running:
            until(lambda: bool(at_work(mark)) or running.poll() is not None)
            assert at_work(mark), running.communicate(timeout=PATIENCE)
            os.kill(running.pid, signal.SIGKILL)
            running.communicate(timeout=PATIENCE)
    until(lambda: not at_work(mark), what="the end of the other program")
