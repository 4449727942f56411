"""The program with sessions in the background, and how tests wait for what they are at."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gatewright.agent.autonomy.running.running_record import Record, read
from gatewright.agent.autonomy.running.socket_places import records_folder
from gatewright.tools.system.lifetimes import child_of_a_session
from tests.e2e.program import NO_ENV, Program
from tests.fakes.waiting import until

# Where the tests themselves run in a session, no process of theirs may speak for a person.
BELOW = sys.platform != "linux" or bool(child_of_a_session(os.getpid(), "/nowhere"))


class Stage:
    def __init__(self, program: Program, env: Mapping[str, str] = NO_ENV) -> None:
        self.program, self.env = program, dict(env)
        self.home = program.home / ".gatewright"

    def agent(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.program.run(*words, env={**self.env, **env})

    def begin(self, *words: str, **env: str) -> str:
        """The id of the session."""
        before = set(self.ids())
        done = self.agent("bg", *words, **env)
        assert done.returncode == 0, done.stderr
        (id,) = set(self.ids()) - before
        return id

    def ids(self) -> list[str]:
        folder = records_folder(self.home)
        return [path.stem for path in folder.glob("*.json")] if folder.is_dir() else []

    def record(self, id: str) -> Record:
        found = read(records_folder(self.home) / f"{id}.json")
        assert found is not None
        return found

    def comes_to(self, id: str, *states: str) -> Record:
        until(lambda: self.record(id).state in states, what=f"{states}: {self.told(id)}")
        return self.record(id)

    def ended(self, id: str) -> Record:
        until(lambda: self.record(id).ended > 0, what="its last word")
        return self.record(id)

    def told(self, id: str) -> str:
        file = records_folder(self.home) / f"{id}.log"
        return f"{self.record(id)} {file.read_text(encoding='utf-8') if file.exists() else ''}"

    def listed(self, *flags: str) -> list[dict[str, Any]]:
        done = self.agent("ps", "--json", *flags)
        assert done.returncode == 0, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    def end_all(self) -> None:
        for id in self.ids():
            found = read(records_folder(self.home) / f"{id}.json")
            if found is not None and found.process.lives():
                with suppress(ProcessLookupError):
                    os.kill(found.pid, signal.SIGKILL)
            if found is not None and found.socket:
                Path(found.socket).unlink(missing_ok=True)


@contextmanager
def stage(program: Program, env: Mapping[str, str] = NO_ENV) -> Generator[Stage]:
    made = Stage(program, env)
    try:
        yield made
    finally:
        made.end_all()
