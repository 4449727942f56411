"""An image a server refuses is replaced by a note, once, and stays replaced."""

from __future__ import annotations

from gatewright.agent.record import codec as wire
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import ImagesDropped, TurnEnded
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.valid_history import NO_IMAGE
from gatewright.tools.protocol import ImageContent
from tests.fakes.house import house
from tests.fakes.recorder import Recorder

IMAGE = ImageContent("image/png", "AAAA")
REFUSED = "error: refused message=image exceeds the limit"


async def test_the_request_is_made_again_without_images() -> None:
    script = f"{REFUSED}\n---\nsay: I see no picture."
    async with house(script) as built, Recorder(built.session) as seen:
        built.session.submit("look", (IMAGE,))
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.COMPLETED
        first, second = built.provider.requests
        assert IMAGE in first.turns[0].content  # type: ignore[union-attr]  # pyright: ignore
        assert second.turns[0].content[1:] == (NO_IMAGE,)  # type: ignore[union-attr]  # pyright: ignore
        stored = [wire.decode(wire.encode(e, "s")) for e in seen.envelopes if e.event.durable]
        again = Conversation()
        for envelope in stored:
            again.apply(envelope.event)
        assert again.view() == built.talk.view()


async def test_only_once_and_only_where_there_is_an_image() -> None:
    async with house(f"{REFUSED}\n---\n{REFUSED}") as built, Recorder(built.session) as seen:
        built.session.submit("look", (IMAGE,))
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.MODEL_ERROR
        assert len(built.provider.requests) == 2
        assert len(seen.of(ImagesDropped)) == 1
    async with house(REFUSED) as built, Recorder(built.session) as seen:
        built.session.submit("look")
        await seen.until(TurnEnded)
        assert len(built.provider.requests) == 1
