"""A real background session, and terminals that look at it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.e2e.program import Program
from tests.e2e.stage import MODEL, served
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.terminal import SIGN, Terminal
from tests.fakes.waiting import until

SIZE = {"rows": 30, "columns": 100}


class Behind:
    """The session, by the id that `agent bg` said; every process of it ends with the test."""

    def __init__(self, program: Program, server: ModelServer, open_: ExitStack) -> None:
        self.program, self.server = program, server
        self._open = open_
        self.env = served(server)
        self.id = ""

    def begin(self, prompt: str, *flags: str) -> None:
        ran = self.program.run("bg", "--model", MODEL, *flags, prompt, env=self.env)
        assert ran.returncode == 0, ran.stderr
        self.id = ran.stdout.split()[0]
        self.listens()

    def listens(self) -> None:
        until(lambda: bool(self.record.get("socket")), what="its socket")

    def screen(self) -> Terminal:
        """A session of this terminal, as it always begins."""
        terminal = self._open.enter_context(
            self.program.terminal("--model", MODEL, env=self.env, **SIZE)
        )
        terminal.wait_for("Ask anything", MODEL)
        return terminal

    def table(self) -> Terminal:
        terminal = self._open.enter_context(self.program.terminal("ps", "-i", env=self.env, **SIZE))
        terminal.wait_for("Sessions in the background")
        return terminal

    @property
    def file(self) -> Path:
        folder = self.program.home / ".gatewright" / "state" / "running"
        [found] = folder.glob(f"{self.id}*.json")
        return found

    @property
    def record(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.file.read_bytes())
        return read

    @property
    def pid(self) -> int:
        return int(self.record["pid"])

    def attach(self, *wanted: str) -> Terminal:
        """Another terminal; the screen of the session stands in it."""
        terminal = self._open.enter_context(
            self.program.terminal("attach", self.id, env=self.env, **SIZE)
        )
        terminal.wait_for(SIGN, *(wanted or (MODEL,)))
        return terminal

    def killed(self) -> None:
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        until(lambda: not lives(pid), what="the end of the process")

    def end(self) -> None:
        folder = self.program.home / ".gatewright" / "state" / "running"
        for file in folder.glob("*.json"):
            with suppress(OSError, ValueError, KeyError):
                os.kill(int(json.loads(file.read_bytes())["pid"]), signal.SIGKILL)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split(")")[1].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def behind(program: Program, script: str) -> Generator[Behind]:
    with ServerThread(script) as server, ExitStack() as open_:
        made = Behind(program, server, open_)
        try:
            yield made
        finally:
            made.end()
