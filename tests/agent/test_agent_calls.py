"""What a front end may ask of an agent below: to be watched, told something, stopped."""

from __future__ import annotations

import asyncio

import pytest

from gatewright.agent.commands.outcome import Problem, Say
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import AgentFinished, InputRefused, TextDelta, UserMessage
from gatewright.agent.session.children import AgentSpec
from gatewright.tools.protocol import TextContent
from tests.fakes.house import House, house
from tests.fakes.recorder import Recorder
from tests.fakes.waiting import PATIENCE

HELLO = "say: hello\n---\n"


async def asked(made: House) -> None:
    made.session.submit("hi")
    await made.session.idle()


async def test_one_that_lives_is_watched_from_its_beginning() -> None:
    async with house(HELLO * 3) as made:
        await asked(made)
        run = made.session.spawn(AgentSpec(name="a1", kind="general", prompt="look"))
        await run.idle()
        events = await made.session.watch("main/a1")
        kept = [envelope.event for envelope in events.waiting()]
        assert isinstance(kept[0], UserMessage)
        made.session.submit("and more", agent="main/a1")
        await run.idle()
        told = [envelope.event for envelope in events.waiting()]
        assert any(isinstance(event, TextDelta) for event in told)
        (said,) = [event for event in told if isinstance(event, UserMessage)]
        assert said.content == (TextContent("and more"),)
        assert said.source == "", "it is the person who says it"
        await run.close()
        async with asyncio.timeout(PATIENCE):
            assert await events.batch() == [], "its end ends the watching"


async def test_nobody_knows_one_that_never_was() -> None:
    async with house(HELLO) as made:
        with pytest.raises(SessionError, match="Nothing is known of an agent main/zz"):
            await made.session.watch("main/zz")


async def test_stopping_ends_it_and_its_turn() -> None:
    async with house(HELLO + "wait: gate\nsay: never\n") as made, Recorder(made.session) as seen:
        await asked(made)
        made.session.spawn(AgentSpec(name="a1", kind="general", prompt="look"))
        async with asyncio.timeout(PATIENCE):
            assert isinstance(await made.session.stop_agent("main/a1"), Say)
        await seen.until(AgentFinished)
        assert [event.ok for event in seen.of(AgentFinished)] == [False]
        assert isinstance(await made.session.stop_agent("main/a1"), Problem)
        assert isinstance(await made.session.resume_agent("main/zz"), Problem)


async def test_what_is_said_to_one_that_is_gone_is_given_back() -> None:
    async with house(HELLO) as made, Recorder(made.session) as seen:
        made.session.submit("are you there?", agent="main/zz")
        await seen.until(InputRefused)
        (refused,) = seen.of(InputRefused)
        assert refused.text == "are you there?"
