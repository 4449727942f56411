"""`agent --plain` with pipes for a keyboard and a page."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager

from tests.e2e.program import AGENT, Program
from tests.fakes.model_server import ModelServer
from tests.fakes.waiting import PATIENCE

ASKED = "or what to do instead.\n"  # ends a question: who answers sooner has not read it


class Typed:
    """The program with pipes for a keyboard and a page."""

    def __init__(self, program: Program, *flags: str, **env: str) -> None:
        self.process = subprocess.Popen(
            [AGENT, "--plain", *flags],
            cwd=program.project,
            env=program.env(**env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._seen = b""

    def type(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def until(self, words: str, *, count: int = 1, within: float = PATIENCE) -> str:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        deadline = time.monotonic() + within
        while self._seen.count(words.encode()) < count:
            left = deadline - time.monotonic()
            assert left > 0, self._seen.decode()
            if select.select([fd], [], [], left)[0]:
                piece = os.read(fd, 65536)
                assert piece, f"it ended: {self._seen.decode()}"
                self._seen += piece
        return self._seen.decode()

    @property
    def page(self) -> str:
        """All that was printed."""
        return self._seen.decode()

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(timeout=PATIENCE)
        assert self.process.stdout is not None
        self._seen += self.process.stdout.read() or b""
        return code

    def drop(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def typing(program: Program, server: ModelServer, *flags: str, **env: str) -> Generator[Typed]:
    served = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
    typed = Typed(program, *flags, **served, **env)
    try:
        yield typed
    finally:
        typed.drop()
