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
from tests.fakes.warm import Place, Warm

ASKED = "or what to do instead.\n"  # ends a question: who answers sooner has not read it


class Typed:
    """The program with pipes for a keyboard and a page."""

    def __init__(self, program: Program, *flags: str, **env: str) -> None:
        argv, full = [AGENT, "--plain", *flags], program.env(**env)
        stdin, self._keys = os.pipe()
        self._prints, stdout = os.pipe()
        streams = (stdin, stdout, os.open(os.devnull, os.O_WRONLY))
        self.process: Warm | subprocess.Popen[bytes]
        if nursery := program.nursery_for(full):
            self.process = nursery.start(argv, Place(str(program.project), full), streams)
        else:
            self.process = subprocess.Popen(
                argv, cwd=program.project, env=full,
                stdin=streams[0], stdout=streams[1], stderr=streams[2],
            )  # fmt: skip
        for each in streams:
            os.close(each)
        self._seen = b""

    def type(self, text: str) -> None:
        os.write(self._keys, text.encode())

    def until(self, words: str, *, count: int = 1, within: float = PATIENCE) -> str:
        deadline = time.monotonic() + within
        while self._seen.count(words.encode()) < count:
            left = deadline - time.monotonic()
            assert left > 0, self._seen.decode()
            if select.select([self._prints], [], [], left)[0]:
                piece = os.read(self._prints, 65536)
                assert piece, f"it ended: {self._seen.decode()}"
                self._seen += piece
        return self._seen.decode()

    @property
    def page(self) -> str:
        """All that was printed."""
        return self._seen.decode()

    def end(self) -> int:
        self._no_more_keys()
        code = self.process.wait(PATIENCE)
        while piece := os.read(self._prints, 65536):
            self._seen += piece
        return code

    def drop(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        self._no_more_keys()
        os.close(self._prints)

    def _no_more_keys(self) -> None:
        if self._keys >= 0:
            os.close(self._keys)
            self._keys = -1


@contextmanager
def typing(program: Program, server: ModelServer, *flags: str, **env: str) -> Generator[Typed]:
    served = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
    typed = Typed(program, *flags, **served, **env)
    try:
        yield typed
    finally:
        typed.drop()
