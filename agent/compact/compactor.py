"""Makes room in the window, in order of cost: clear old results, then summarise.

Automatic compaction ends after three failures or three summaries that made no room, and says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.compact.budget import Budget
from gatewright.agent.compact.estimate import (
    text_tokens,
    tool_tokens,
    turns_tokens,
    with_margin,
)
from gatewright.agent.errors import FailureKind, GatewrightError, ProviderError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.clock import Clock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import AnyEvent, Compacted, Noticed, ResultsCleared
from gatewright.agent.record.messages import UserTurn
from gatewright.agent.turn.listeners import Listeners
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent

if TYPE_CHECKING:
    from gatewright.agent.compact.keep import Kept
    from gatewright.tools.moments import Moments

FAILURES = 3
LEAST = 2_000  # tokens; a shorter history is not what makes a request too long


class CompactPorts(msgspec.Struct, frozen=True, kw_only=True):
    """`state` gives what still holds besides the words, the most important first."""

    talk: Conversation
    emit: Callable[[AnyEvent], object]
    state: Callable[[int], Awaitable[Sequence[str]]]  # tokens one file may take
    forget: Callable[[], None]  # the model no longer has what it was shown
    clock: Clock
    listeners: Listeners = msgspec.field(default_factory=Listeners)
    agent: str = MAIN
    automatic: bool = True

    @property
    def moments(self) -> Moments | None:
        """Who may speak before and after, as of now."""
        return self.listeners.now


class Compactor:
    def __init__(self, ports: CompactPorts) -> None:
        self._ports = ports
        self._failures = 0
        self._told = False

    def size(self, model: OpenModel) -> int:
        """Tokens the next request takes of the window, without its answer."""
        talk = self._ports.talk
        return talk.tokens if talk.counted else talk.tokens + overhead(model)

    async def make_room(self, model: OpenModel) -> None:
        """Before each request. Raises ProviderError when there is no room and none can be made."""
        budget = budget_of(model)
        size = self.size(model)
        if size < budget.warning:
            return
        if self._clear_results(budget):
            size = self.size(model)
        if size >= budget.auto and self._may() and await self._compact(model, "auto", ""):
            size = self.size(model)
        if size >= budget.block and self._ports.talk.counted:
            raise ProviderError(
                FailureKind.TOO_LONG,
                "The conversation fills the model's window. /compact summarises it, "
                "/clear begins anew, /model chooses a larger one.",
            )

    async def rescue(self, model: OpenModel) -> bool:
        """The provider said "too long": whether there is room now for one more try.

        The window is smaller than we believed, so what is kept is measured by what was refused.
        """
        size = self.size(model)
        if size < LEAST:
            return False
        smaller = msgspec.structs.replace(model, window=min(model.window, size))
        return await self._compact(smaller, "overflow", "")

    async def compact(self, model: OpenModel, instructions: str) -> Compacted:
        """Because the person asked. Raises GatewrightError saying why not."""
        self._failures, self._told = 0, False
        return await self._summarised(model, "manual", instructions, within=self._tight(model))

    def preview(self, model: OpenModel) -> Kept:
        from gatewright.agent.compact.keep import choose  # noqa: PLC0415  lazy

        talk = self._ports.talk
        return choose(talk.view(), talk.words, budget_of(model, self._tight(model)))

    def _tight(self, model: OpenModel) -> int:
        """Who asks for a summary wants less kept than what happens to fit."""
        return min(model.window, max(LEAST, self._talked()))

    def _talked(self) -> int:
        return turns_tokens(self._ports.talk.view())

    def _may(self) -> bool:
        if not self._ports.automatic:
            return False
        if self._failures < FAILURES:
            return True
        if not self._told:
            self._told = True
            self._notice(
                "Automatic summaries are off: three in a row made no room. /compact tries again, "
                "/clear begins anew."
            )
        return False

    def _clear_results(self, budget: Budget) -> bool:
        from gatewright.agent.compact.micro import old_results  # noqa: PLC0415  lazy

        old = old_results(self._ports.talk.view())
        if old.tokens < budget.freed:
            return False
        self._ports.emit(ResultsCleared(call_ids=old.call_ids, tokens=old.tokens))
        self._ports.forget()
        return True

    async def _compact(self, model: OpenModel, trigger: str, instructions: str) -> bool:
        """Whether it made room; a failure is told and counted."""
        try:
            done = await self._summarised(model, trigger, instructions)
        except GatewrightError as error:
            self._failures += 1
            self._notice(f"The conversation could not be summarised: {error}")
            return False
        room = done.tokens_after < min(budget_of(model).auto, done.tokens_before)
        self._failures = 0 if room else self._failures + 1
        return room

    async def _summarised(
        self, model: OpenModel, trigger: str, instructions: str, *, within: int = 0
    ) -> Compacted:
        """`within` is the window that what is kept is measured by, the model's by default."""
        from gatewright.agent.compact.keep import choose  # noqa: PLC0415  lazy
        from gatewright.agent.compact.summary import Wish, fitting, opening, summarise  # noqa: PLC0415  lazy: 1 ms, with the first summary

        ports, talk = self._ports, self._ports.talk
        turns = talk.view()
        if not turns or (trigger == "manual" and self._talked() < LEAST):
            raise GatewrightError("There is too little to summarise yet.")
        before = self.size(model)
        instructions = await self._allowed(trigger, instructions)
        ports.emit(Noticed(text="Summarising the conversation to make room.", tone="dim"))
        budget = budget_of(model, within)
        answer = min(budget.summary, model.frame.max_output)
        room = model.window - model.window // 50 - overhead(model) - answer
        wish = Wish(instructions, budget.summary, room, ports.agent)
        summary = await summarise(model, turns, wish, ports.clock)
        kept = choose(turns, talk.words, budget)
        more = await self._behind(trigger, summary.text)
        state = fitting([*await ports.state(budget.files), *more], budget.state)
        text = opening(summary.text, kept.words, [part for part in state if part])
        fresh = turns_tokens((UserTurn((TextContent(text),)), *kept.recent))
        event = Compacted(
            summary=summary.text,
            trigger=trigger,
            tokens_before=before,
            tokens_after=with_margin(fresh) + overhead(model),
            opening=text,
            turns=kept.recent,
            words=tuple(talk.words),
            usage=summary.usage,
            cost=summary.cost,
        )
        ports.emit(event)
        ports.forget()
        return event

    async def _allowed(self, trigger: str, instructions: str) -> str:
        """The instructions with what others add. Raises GatewrightError: it is forbidden."""
        if (moments := self._ports.moments) is None:
            return instructions
        from gatewright.tools.moments import Compacting  # noqa: PLC0415  only where somebody listens

        moment = Compacting(agent=self._ports.agent, trigger=trigger, instructions=instructions)
        verdict = await moments.at(moment)
        if verdict.word in ("deny", "stop"):
            raise GatewrightError(verdict.text or "It was forbidden.")
        return "\n".join(filter(None, (instructions, *verdict.context)))

    async def _behind(self, trigger: str, summary: str) -> Sequence[str]:
        """What others want the model to read behind the summary."""
        if (moments := self._ports.moments) is None:
            return ()
        from gatewright.tools.moments import CompactionEnded  # noqa: PLC0415  only where somebody listens

        moment = CompactionEnded(agent=self._ports.agent, trigger=trigger, summary=summary)
        return (await moments.at(moment)).context

    def _notice(self, text: str) -> None:
        self._ports.emit(Noticed(text=text, tone="warning"))


def budget_of(model: OpenModel, window: int = 0) -> Budget:
    return Budget.of(window or model.window, model.frame.raised_output or model.frame.max_output)


def overhead(model: OpenModel) -> int:
    """Tokens every request takes before its first message."""
    return sum(map(text_tokens, model.frame.system)) + tool_tokens(model.frame.tools)
