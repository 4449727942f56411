"""What the empty screen says, and how it comes to know it: nothing of it is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatewright.tui.line import Line
from gatewright.tui.session_calls import Talk
from gatewright.tui.sessions.resuming import Last
from gatewright.tui.transcript.greeting import Facts, greeting

if TYPE_CHECKING:
    from gatewright.tui.app import AgentApp
    from gatewright.tui.screens.repl import Repl  # it makes this

READING = 0.1  # seconds between two looks at what is being read


class Welcome:
    """The greeting of one screen."""

    def __init__(self, repl: Repl, talk: Talk, host: AgentApp) -> None:
        self._repl = repl
        self._talk = talk
        self._host = host
        self._last: Last | None = None  # of this directory, once it was looked up

    def rows(self, width: int) -> list[Line]:
        talk = self._talk
        facts = Facts(talk.answering, talk.instructions, self._last)
        return greeting(self._host.folder(), width, facts)

    def begin(self) -> None:
        """There is a session: what the model is told is known soon, what was last is looked up."""
        if self._talk.instructions is None:
            self._repl.reach.every(READING, self._greets)
        if self._unused and self._host.resuming is not None:
            self._talk.spawn(self._look_back)

    @property
    def _unused(self) -> bool:
        return self._repl.transcript.records.only_notes()

    def _greets(self) -> bool:
        self._repl.transcript.sync()
        return self._talk.instructions is None and self._unused

    async def _look_back(self) -> None:
        if self._host.resuming is not None:
            self._last = await self._host.resuming.last()
            self._repl.transcript.sync()
