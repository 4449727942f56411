"""Agents below, seen from the other end of a line: watched, told something, stopped, let go."""

from __future__ import annotations

import asyncio

import pytest

from gatewright.agent.client.watches import MOST
from gatewright.agent.commands.outcome import Problem, Say
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import AgentFinished, TurnEnded, UserMessage
from gatewright.agent.record.hub import Subscription
from gatewright.agent.session.children import AgentSpec
from gatewright.tools.protocol import TextContent
from tests.client.wired import wired
from tests.fakes.recorder import Recorder
from tests.fakes.waiting import PATIENCE, eventually

HELLO = "say: hello\n---\n"


async def until(events: Subscription, kind: type[object]) -> list[object]:
    """All that came, up to the first of this kind."""
    seen: list[object] = []
    async with asyncio.timeout(PATIENCE):
        while not any(isinstance(event, kind) for event in seen):
            seen += [envelope.event for envelope in await events.batch()]
    return seen


async def test_an_agent_is_watched_and_told_something_over_the_line() -> None:
    async with wired(HELLO * 4) as (remote, built, _):
        built.session.submit("hi")
        await built.session.idle()
        run = built.session.spawn(AgentSpec(name="a1", kind="general", prompt="look"))
        await run.idle()
        events = await remote.watch("main/a1")
        assert isinstance((await until(events, TurnEnded))[0], UserMessage)
        remote.submit("and more", agent="main/a1")
        told = await until(events, TurnEnded)
        assert any(
            isinstance(event, UserMessage) and event.content == (TextContent("and more"),)
            for event in told
        )
        hub = built.session._frame.journal.hub("main/a1")  # pyright: ignore[reportPrivateUsage]
        before = len(hub._subscriptions)  # pyright: ignore[reportPrivateUsage]
        events.close()
        await eventually(lambda: len(hub._subscriptions) == before - 1)  # pyright: ignore[reportPrivateUsage]


async def test_its_end_ends_the_watching() -> None:
    async with wired(HELLO * 2 + "wait: gate\nsay: never\n") as (remote, built, _):
        built.session.submit("hi")
        await built.session.idle()
        built.session.spawn(AgentSpec(name="a1", kind="general", prompt="look"))
        events = await remote.watch("main/a1")
        async with Recorder(remote) as seen:
            assert await remote.stop_agent("main/a1") == Say(())
            await seen.until(AgentFinished)
        async with asyncio.timeout(PATIENCE):
            while await events.batch():
                pass
        assert isinstance(await remote.stop_agent("main/a1"), Problem)
        assert isinstance(await remote.resume_agent("main/zz"), Problem)


async def test_what_cannot_be_watched_is_said() -> None:
    async with wired(HELLO * 2) as (remote, built, _):
        with pytest.raises(SessionError, match="Nothing is known of an agent main/zz"):
            await remote.watch("main/zz")
        built.session.submit("hi")
        await built.session.idle()
        run = built.session.spawn(AgentSpec(name="a1", kind="general", prompt="look"))
        await run.idle()
        many = [await remote.watch("main/a1") for _ in range(MOST)]
        with pytest.raises(SessionError, match="Close one of their views"):
            await remote.watch("main/a1")
        for events in many:
            events.close()


async def test_a_line_that_ends_ends_what_was_watched() -> None:
    async with wired(HELLO * 2) as (remote, built, pipe):
        built.session.submit("hi")
        await built.session.idle()
        run = built.session.spawn(AgentSpec(name="a1", kind="general", prompt="look"))
        await run.idle()
        events = await remote.watch("main/a1")
        pipe.inject(b"{oops")
        async with asyncio.timeout(PATIENCE):
            while await events.batch():
                pass
