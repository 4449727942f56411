"""Hooks may add to a summary's instructions, forbid it, and put text behind it."""

from __future__ import annotations

import pytest

from gatewright.agent.compact.compactor import Compactor, CompactPorts
from gatewright.agent.compact.state import nothing
from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.clock import SystemClock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import AnyEvent, AssistantMessage, Compacted, UserMessage
from gatewright.agent.record.messages import TextPart, Usage
from gatewright.agent.turn.listeners import Listeners
from gatewright.tools.moments import Compacting, CompactionEnded, Moment, Verdict
from gatewright.tools.protocol import TextContent
from tests.compact.windowed import Windowed, texts


class Hooks:
    def __init__(self, *, forbids: bool = False) -> None:
        self.forbids = forbids
        self.triggers: list[str] = []

    async def at(self, moment: Moment) -> Verdict:
        match moment:
            case Compacting(trigger=trigger):
                self.triggers.append(trigger)
                if self.forbids:
                    return Verdict(word="deny", text="A hook says no.")
                return Verdict(context=("and the weather",))
            case CompactionEnded():
                return Verdict(context=("# From a hook\n\nMind the gap.",))
            case _:
                return Verdict()


def prepared(hooks: Hooks) -> tuple[Compactor, Conversation, list[AnyEvent]]:
    talk, emitted = Conversation(), list[AnyEvent]()

    def emit(event: AnyEvent) -> None:
        emitted.append(event)
        talk.apply(event)

    for number in range(6):
        talk.apply(UserMessage(content=(TextContent(f"{number} " + "word " * 2_000),)))
        usage = Usage(input=90_000)
        talk.apply(AssistantMessage(id="a", model="m", parts=(TextPart("ok"),), usage=usage))
    ports = CompactPorts(
        talk=talk,
        emit=emit,
        state=nothing,
        forget=lambda: None,
        clock=SystemClock(),
        listeners=Listeners(hooks),
    )
    return Compactor(ports), talk, emitted


async def test_they_have_their_say() -> None:
    hooks, provider = Hooks(), Windowed(100_000)
    compactor, talk, emitted = prepared(hooks)
    await compactor.make_room(provider.open("m", ""))
    assert hooks.triggers == ["auto"]
    assert "and the weather" in texts(provider.requests[0].turns)
    assert [type(event) for event in emitted][-1] is Compacted
    assert "Mind the gap." in texts(talk.view())


async def test_one_that_says_no() -> None:
    hooks, provider = Hooks(forbids=True), Windowed(100_000)
    compactor, talk, _ = prepared(hooks)
    before = talk.view()
    model = provider.open("m", "")
    with pytest.raises(GatewrightError, match="A hook says no"):
        await compactor.compact(model, "")
    for _ in range(5):
        await compactor.make_room(model)
    assert hooks.triggers == ["manual", "auto", "auto", "auto"]  # then it is off
    assert talk.view() == before
    assert provider.requests == []
