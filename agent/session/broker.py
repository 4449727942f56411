"""Questions waiting for a person: asked as events, answered once, by whoever is first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from gatewright.agent.record.events import Answered, AnyEvent, Asked
from gatewright.tools.interact import ELICITATION, Answer, Ask, Weighed

Weigh: TypeAlias = Callable[[str, Sequence[str]], Weighed]
GONE = Weighed(problem="That question is answered already.")
CANCELLED = Answer(cancelled=True)


class Broker:
    """Ids come from a counter, so a late answer can never reach another question."""

    def __init__(self, emit: Callable[[AnyEvent, str], object], weigh: Weigh) -> None:
        self._emit = emit
        self._weigh = weigh
        self._next = 1
        self._waiting: dict[int, tuple[str, Ask, asyncio.Future[Answer]]] = {}

    async def ask(self, agent: str, ask: Ask) -> Answer:
        number, self._next = self._next, self._next + 1
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (agent, ask, future)
        self._emit(Asked(id=number, ask=ask), agent)
        try:
            return await future
        finally:
            # Cancellation gets here with the future unanswered: front ends must close the dialog.
            if self._waiting.pop(number, None):
                self._emit(Answered(id=number, answer=CANCELLED), agent)

    def answer(self, ask: int, answer: Answer, *, by: str = "") -> bool:
        """False: it was answered already, or never asked. `by`: which of several who look."""
        waiting = self._waiting.pop(ask, None)
        if waiting is None:
            return False
        agent, asked, future = waiting
        self._emit(Answered(id=ask, answer=_kept(asked, answer), by=by), agent)
        if not future.done():
            future.set_result(answer)
        return True

    async def weigh(self, ask: int, rules: Sequence[str]) -> Weighed:
        """What storing these would do for a call that is asked about."""
        _, found, _ = self._waiting.get(ask, (None, None, None))
        return GONE if found is None or not found.call_id else self._weigh(found.call_id, rules)

    def pending(self) -> tuple[int, ...]:
        return tuple(self._waiting)

    def cancel_all(self) -> None:
        for number in self.pending():
            self.answer(number, CANCELLED)


def _kept(ask: Ask, answer: Answer) -> Answer:
    """What everybody may know of it: what a server is told is between it and the person."""
    if ask.kind != ELICITATION:
        return answer
    asked = () if ask.multiple or not ask.fields else answer.choices
    return Answer(asked, cancelled=answer.cancelled)
