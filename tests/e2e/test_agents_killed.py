"""kill -9 at any moment with five agents at work: each is shown once, and the session goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.e2e.test_crash import MODEL, assert_valid, keys
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import PATIENCE, until

pytestmark = pytest.mark.e2e

WORK = 'say: I work.\ncall: Bash {"command": "echo $$ >> pids; sleep 0.2; echo done"}\n---\n'
CALLS = "\n".join(
    f"call[c{n}]: Agent "
    + json.dumps(
        {
            "description": f"task {n}",
            "prompt": f"do {n}",
            "run_in_background": n > 2,
            "name": f"n{n}",
        }
    )
    for n in range(5)
)
SCRIPT = f"say: I start them.\n{CALLS}\n---\n{WORK * 5}say: it is done\n"


def stored(program: Program) -> Iterator[dict[str, Any]]:
    (file,) = (program.home / ".gatewright" / "projects").glob("*/*.jsonl")
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def alive(program: Program) -> list[int]:
    """Of the commands that the agents started."""
    path = program.project / "pids"
    numbers = path.read_text(encoding="utf-8").split() if path.exists() else []
    return [int(each) for each in numbers if Path(f"/proc/{each}").exists()]


def killed(program: Program, seconds: float) -> None:
    """So long after the first request; at 0 as soon as the first agent's command runs."""
    with ServerThread(SCRIPT, repeat=True) as server:
        process = program.start("-p", "Go.", "--model", MODEL, "-y", env=keys(server))
        with process:
            until(lambda: len(server.bodies) > 0 or process.poll() is not None)
            if not seconds:
                until(lambda: (program.project / "pids").exists() or process.poll() is not None)
            try:
                _, said = process.communicate(timeout=seconds or 0.01)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, -signal.SIGKILL), said
    assert server.bodies, said


def check(program: Program, told: str) -> Counter[str]:
    """How the agents of this run ended."""
    with ServerThread("say: I go on.", repeat=True) as server:
        done = program.run("-p", "What happened?", "--continue", env=keys(server))
        assert done.returncode == 0, (told, done.stderr)
        messages = server.bodies[-1]["messages"]
    results = assert_valid(messages)
    events = list(stored(program))
    started = Counter(e["child"] for e in events if e["type"] == "agent_started")
    ended = Counter(e["child"] for e in events if e["type"] == "agent_finished")
    assert started == ended, (told, "each start has one end")
    assert set(started.values()) <= {1}, told
    calls = [e for e in events if e["type"] == "tool_finished"]
    finished = Counter(e["call_id"] for e in calls)
    assert all(count == 1 for count in finished.values()), (told, "each call has one result")
    for call, result in results.items():
        assert result["content"], (told, call)
    until(lambda: not alive(program), what=f"{told}: the end of all that they had started")
    return Counter(e.get("status", "completed") for e in events if e["type"] == "agent_finished")


@pytest.mark.parametrize(
    "count", [3, pytest.param(200, marks=[pytest.mark.proof, pytest.mark.timeout(3600)])]
)
def test_killed_at_any_moment(tmp_path: Path, count: int) -> None:
    chance, ends = random.Random(count), Counter[str]()
    for number in range(count):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = Program.prepare(folder)
        program.unconfined()
        seconds = chance.uniform(0.0, 3.0) if number else 0.0
        killed(program, seconds)
        ends += check(program, f"moment {number}, {seconds:.3f} s")
    assert ends["interrupted"] > 0, f"no agent was ever cut off: {ends}"
