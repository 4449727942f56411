"""Interrupting, queueing, taking back, closing at any moment: the same few things always hold."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from gatewright.agent.record import codec as wire
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import (
    Answered,
    AnyEvent,
    Asked,
    AssistantMessage,
    Envelope,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.record.messages import CallPart
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tools.protocol import ToolCall, ToolContext, ToolResult
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import House, house, recalled
from tests.fakes.recorder import Recorder
from tests.fakes.waiting import PATIENCE

QUESTION = Ask("question", "Which?", (), (Option("a", "A", "a"),))
SCRIPT = "\n---\n".join([
    'think: Well.\nsay: I look.\ncall: Read {"n": 1}\ncall: Read {"n": 2}\ncall: Change {"n": 3}',
    'say: Again.\ncall: Change {"n": 4}\ncall: Read {"n": 5}',
    "say: Done with that.",
])  # fmt: skip


class Slow(FakeExecutor):
    """Takes a few steps of the loop; what changes something asks first."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self._dice = dice

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        for _ in range(self._dice.randrange(4)):
            await asyncio.sleep(0)
        if call.name == "Change" and self._dice.random() < 0.5:
            answer = await ctx.ask(QUESTION)
            if answer.cancelled:
                return ToolResult.refused("no", ends_turn=self._dice.random() < 0.5)
        try:
            await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)  # as a process that is ended
        return ToolResult.text("done")


async def meddle(built: House, dice: random.Random, asked: Sequence[int]) -> int:
    """Do something a person could do; returns how many inputs there are more."""
    session = built.session
    match dice.randrange(8):
        case 0 | 1:
            session.interrupt()
        case 2:
            session.submit("more")
            return 1
        case 3:
            return -len(recalled(session))
        case 4 | 5 if asked:
            session.answer(asked[-1], Answer(("a",), cancelled=dice.random() < 0.3))
        case _:
            for _ in range(dice.randrange(12)):
                await asyncio.sleep(0)
    return 0


def check(envelopes: Sequence[Envelope], live: Conversation, inputs: int) -> None:
    events: list[AnyEvent] = [envelope.event for envelope in envelopes]
    running = 0
    for event in events:
        running += isinstance(event, TurnStarted) - isinstance(event, TurnEnded)
        assert running in (0, 1)
    assert running == 0
    calls = Counter(
        part.id
        for event in events
        if isinstance(event, AssistantMessage)
        for part in event.parts
        if isinstance(part, CallPart)
    )
    assert calls == Counter(e.call_id for e in events if isinstance(e, ToolFinished))
    assert set(calls.values()) <= {1}
    asked = sorted(event.id for event in events if isinstance(event, Asked))
    assert asked == sorted(event.id for event in events if isinstance(event, Answered))
    assert sum(isinstance(event, UserMessage) for event in events) == inputs
    stored = Conversation()
    for envelope in envelopes:
        if envelope.event.durable:
            stored.apply(wire.decode(wire.encode(envelope, "s")).event)
    assert stored.view() == live.view()
    assert (stored.tokens, stored.words) == (live.tokens, live.words)


@pytest.mark.parametrize("seed", range(60))
async def test_whatever_happens_when(seed: int) -> None:
    dice = random.Random(seed)
    before = asyncio.all_tasks()
    script = "\n---\n".join([SCRIPT] * 20)
    async with house(script, executor=Slow(dice)) as built, Recorder(built.session) as seen:
        inputs = 1
        built.session.submit("go")
        for _ in range(dice.randrange(4, 40)):
            inputs += await meddle(built, dice, [event.id for event in seen.of(Asked)])
        closing = dice.random() < 0.3
        async with asyncio.timeout(PATIENCE):
            while built.session.busy and not closing:
                for event in seen.of(Asked):
                    built.session.answer(event.id, Answer(("a",)))
                await asyncio.sleep(0)
        waiting = recalled(built.session)
        await built.session.close()
    assert closing or not waiting
    check(seen.envelopes, built.talk, inputs - len(waiting))
    assert asyncio.all_tasks() == before
