"""Asks the session how a name behind @ may go on, while somebody types: one question at a time.

What is typed meanwhile is asked next, the newest alone; no key waits for an answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from gatewright.agent.commands.registry import Mention
from gatewright.tui.work import Spawn

Ask = Callable[[str], Awaitable[Sequence[Mention]]]


class LookingUp:
    """`show` gets the answer to what is still wanted."""

    def __init__(
        self,
        ask: Ask,
        spawn: Spawn,
        show: Callable[[Sequence[Mention]], None],
    ) -> None:
        self._ask, self._spawn, self._show = ask, spawn, show
        self._wanted: str | None = None
        self._busy = False

    def want(self, begun: str) -> None:
        if begun != self._wanted:
            self._wanted = begun
            if not self._busy:
                self._busy = True
                self._spawn(self._answer)

    def drop(self) -> None:
        """Nobody wants to know any more."""
        self._wanted = None

    async def _answer(self) -> None:
        try:
            asked: str | None = None
            while self._wanted is not None and self._wanted != asked:
                asked = self._wanted
                found = await self._ask(asked)
                if asked == self._wanted:
                    self._show(found)
        finally:
            self._busy = False
