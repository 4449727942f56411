"""A model server for many agents: it answers so many at a time, refuses the others with 429, and
knows who asks by what their first message says.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.model_server import ModelServer, Recorded, whole
from tests.fakes.scripted_provider import DEFAULT_USAGE, Answer, read_script

MAIN = "main"
_WHO = re.compile(r"I am (\w+)")


def who_asks(body: Mapping[str, Any]) -> str:
    """`I am NAME` in what it was told first; the main agent was told nothing of that kind."""
    found = _WHO.search(json.dumps(body["messages"][0]))
    return found[1] if found else MAIN


class NarrowServer(ModelServer):
    """`scripts` are by name; each agent gets its own answers in order, then the last one again."""

    def __init__(
        self,
        scripts: Callable[[str], str],
        *,
        at_once: int = 1,
        retry_after: str = "",
        seconds: float = 0.01,
    ) -> None:
        super().__init__()
        self._scripts = scripts
        self._at_once = at_once
        self._retry_after = retry_after
        self._seconds = seconds  # an answer takes
        self._own: dict[str, tuple[Answer, ...]] = {}
        self._now = 0
        self._asking = MAIN
        self.asked: list[str] = []  # everybody, also those that were refused
        self.answered: list[str] = []
        self.refused: list[str] = []

    @property
    def tokens(self) -> int:
        """Of all answers, as they say."""
        return len(self.answered) * (DEFAULT_USAGE.input + DEFAULT_USAGE.output)

    async def _respond(self, request: Recorded, writer: asyncio.StreamWriter) -> bool:
        if request.method == "GET":
            return await super()._respond(request, writer)
        who = who_asks(request.body)
        self.asked.append(who)
        if self._now >= self._at_once:
            self.refused.append(who)
            headers = {"retry-after": self._retry_after} if self._retry_after else {}
            error = b'{"error":{"type":"rate_limit_error","message":"One at a time."}}'
            await whole(writer, 429, headers, error)
            return True
        self._now += 1
        try:
            self.answered.append(who)
            await asyncio.sleep(self._seconds)
            self._asking = who
            return await super()._respond(request, writer)
        finally:
            self._now -= 1

    def _next(self) -> Answer | None:
        """Called at once when an answer begins: nobody else can have come in between."""
        who = self._asking
        if who not in self._own:
            self._own[who] = read_script(self._scripts(who))
        answers = self._own[who]
        self._own[who] = answers[1:] or answers
        return answers[0]
