"""What is asked of a session at the other end of a line, as the port that front ends know.

Nothing waits for its answer but what is awaitable; a refusal is told as an event is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from gatewright.agent.client.far_facts import FarFacts
from gatewright.agent.client.far_line import FarRequests, Line, LineEnded, taken_back
from gatewright.agent.client.far_offers import FarOffers
from gatewright.agent.client.far_state import FarState
from gatewright.agent.client.port import Give, Taken
from gatewright.agent.client.session_lines import (
    AnyRequest,
    ApplyChange,
    CycleMode,
    GiveAnswer,
    Interrupt,
    KeepSetting,
    Mentions,
    Remember,
    ResumeAgent,
    RunCommand,
    SendMessage,
    StopAgent,
    TakeBack,
    ToBackground,
    Typing,
    WeighRules,
)
from gatewright.agent.client.watches import FarWatches
from gatewright.agent.commands.outcome import (
    Change,
    ClearHistory,
    Outcome,
    SetEffort,
    SetMode,
    SetModel,
    Submit,
)
from gatewright.agent.commands.registry import Front, Mention
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import AnyEvent, InputRefused, Noticed
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import Journal
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Weighed


def _unread(future: asyncio.Future[dict[str, Any]]) -> None:
    """An end that does not know it has nothing to make ready."""
    if not future.cancelled():
        future.exception()


class FarCalls(FarFacts):
    """The part of `SessionClient` that goes over the line."""

    def __init__(
        self, line: Line, state: FarState, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(state)
        self._requests = FarRequests(line)
        self._watches = FarWatches(self._requests.ask)
        self.watch = self._watches.open
        self._offers = FarOffers(self._found)
        self._journal = Journal(clock=clock, new_id=new_id)
        self._journal.begin(())
        self._changed = asyncio.Event()
        self._gone = ""  # why nothing more is heard

    @property
    def busy(self) -> bool:
        return self._state.busy

    def _publish(self, event: AnyEvent) -> None:
        self._state.saw(self._journal.publish(event))

    def submit(
        self,
        text: str,
        attachments: Taken = (),
        *,
        typed: str | None = None,
        id: str = "",
        agent: str = MAIN,
    ) -> str:
        """What could not be sent is the person's again."""
        id = id or new_id()
        message = SendMessage(text=text, attachments=attachments, typed=typed, id=id, agent=agent)
        self._state.sent += 1

        def sent(future: asyncio.Future[dict[str, Any]]) -> None:
            self._state.sent -= 1
            self._changed.set()
            if not future.cancelled() and (error := future.exception()) is not None:
                self._publish(InputRefused(text=text, reason=str(error)))

        self._requests.ask(message).add_done_callback(sent)
        return id

    def typing(self) -> None:
        self._requests.ask(Typing()).add_done_callback(_unread)

    def take_back(self, give: Give) -> bool:
        if not self._state.waits:
            return False

        def answered(future: asyncio.Future[dict[str, Any]]) -> None:
            if future.cancelled() or future.exception() is not None:
                return  # that the line has ended was told
            taken = taken_back(future.result())
            if taken:
                give(taken)

        self._requests.ask(TakeBack()).add_done_callback(answered)
        return True

    def interrupt(self) -> bool:
        return self.busy and self._do(Interrupt())

    def to_background(self) -> int:
        count = len(self._state.movable) + len(self._state.attended)
        if count:
            self._do(ToBackground())
        return count

    def answer(self, ask: int, answer: Answer, *, by: str = "") -> bool:
        del by  # the other end knows who looks from here
        return self._state.asked(ask) and self._do(GiveAnswer(ask=ask, answer=answer))

    async def weigh(self, ask: int, rules: Sequence[str]) -> Weighed:
        try:
            found = await self._found(WeighRules(ask=ask, rules=tuple(rules)))
            return msgspec.convert(found, Weighed)
        except (SessionError, msgspec.ValidationError) as error:
            return Weighed(problem=str(error))

    def cycle_mode(self) -> str:
        self._do(CycleMode())
        return self.mode

    def _do(self, request: AnyRequest) -> bool:
        """Ask for what no answer is awaited of; a refusal is told."""

        def answered(future: asyncio.Future[dict[str, Any]]) -> None:
            error = None if future.cancelled() else future.exception()
            if error is not None and not isinstance(error, LineEnded):  # whose end was told
                self._publish(Noticed(text=str(error), tone="warning"))

        self._requests.ask(request).add_done_callback(answered)
        return not self._gone

    async def mentions(self, begun: str) -> Sequence[Mention]:
        """Nothing where that is not understood there: somebody only types."""
        with suppress(SessionError, msgspec.ValidationError):
            return msgspec.convert(await self._found(Mentions(begun=begun)), list[Mention])
        return ()

    async def run_command(self, line: str, front: Front) -> Outcome:
        return await self._offers.of(
            RunCommand(line=line, switches=front.switches, panels=front.panels)
        )

    async def apply(self, outcome: Outcome, front: Front) -> Outcome:
        """What came over the line was applied there; what was made here goes over."""
        del front
        match outcome:
            case Change(
                operation=SetMode() | SetModel() | SetEffort() | ClearHistory() as operation
            ):
                return await self._offers.of(ApplyChange(operation=operation))
            case Submit(text=text, scope=None):
                self.submit(text)
                return outcome
            case _:
                return outcome

    async def keep_setting(self, key: str, value: str) -> Outcome:
        return await self._offers.of(KeepSetting(key=key, value=value))

    async def stop_agent(self, agent: str) -> Outcome:
        return await self._offers.of(StopAgent(agent=agent))

    async def resume_agent(self, agent: str) -> Outcome:
        return await self._offers.of(ResumeAgent(agent=agent))

    async def remember(self, line: str) -> Outcome:
        return await self._offers.of(Remember(line=line))

    async def _found(self, request: AnyRequest) -> Any:
        return (await self._requests.ask(request)).get("found")
