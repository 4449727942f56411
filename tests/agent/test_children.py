"""An agent that another one starts is cheap, follows its own path, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc

import pytest

from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    TextDelta,
    TurnEnded,
)
from gatewright.agent.session.children import AgentRun, AgentSpec
from gatewright.agent.turn.stop import Stop
from tests.fakes.house import House, house
from tests.fakes.recorder import Recorder
from tests.fakes.waiting import PATIENCE

HELLO = "say: hello\n---\n"


async def asked(made: House) -> None:
    """The first turn opens the model that children share."""
    made.session.submit("hi")
    await made.session.idle()


async def one(made: House, name: str) -> AgentRun:
    run = made.session.spawn(AgentSpec(name=name, kind="general", prompt=f"task of {name}"))
    async with asyncio.timeout(PATIENCE):
        assert await run.idle() is Stop.COMPLETED
    return run


async def test_a_child_answers_under_its_own_path() -> None:
    async with house(HELLO * 2) as made, Recorder(made.session) as seen:
        await asked(made)
        run = await one(made, "a1")
        assert (run.path, run.report) == ("main/a1", "hello")
        await run.close()
        await seen.until(AgentFinished)
        started, finished = seen.of(AgentStarted), seen.of(AgentFinished)
        assert [event.child for event in started] == ["main/a1"]
        assert [(event.child, event.ok, event.report) for event in finished] == [
            ("main/a1", True, "hello")
        ]
        assert len(seen.of(TurnEnded)) == 1, "its turns are no turns of the main agent"
        assert all(envelope.agent == "main" for envelope in seen.envelopes)
        assert "task of a1" not in str(made.talk.view()), "only its report could get in there"


async def test_its_deltas_reach_who_follows_it_alone() -> None:
    async with house(HELLO * 2) as made, Recorder(made.session) as seen:
        await asked(made)
        told = len(seen.of(TextDelta))
        run = await one(made, "a1")
        following = made.session.subscribe(agent=run.path)
        assert [type(envelope.event).__name__ for envelope in following.waiting()][:1] == [
            "UserMessage"
        ]
        assert len(seen.of(TextDelta)) == told


async def test_a_name_is_used_once_and_closing_the_session_ends_all() -> None:
    async with house(HELLO * 3) as made:
        await asked(made)
        await one(made, "a1")
        with pytest.raises(SessionError, match="main/a1"):
            made.session.spawn(AgentSpec(name="a1", kind="general", prompt="again"))
        with pytest.raises(SessionError, match="main/nobody/x"):
            made.session.spawn(AgentSpec(name="x", kind="general", prompt="", parent="main/nobody"))
        nested = made.session.spawn(
            AgentSpec(name="b", kind="general", prompt="deeper", parent="main/a1")
        )
        assert nested.path == "main/a1/b"
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_it_is_at_is_told_above() -> None:
    script = 'say: hello\n---\ncall: Read {"file_path": "a"}\n---\nsay: read\n'
    async with house(script) as made, Recorder(made.session) as seen:
        await asked(made)
        await one(made, "a1")
        (told,) = seen.of(AgentProgressed)
        assert (told.child, told.state) == ("main/a1", "Read")


@pytest.mark.slow
async def test_a_thousand_children_leave_nothing() -> None:
    count = 200
    async with house(HELLO * (count + 1)) as made:
        await asked(made)
        for number in range(count):
            run = await one(made, f"a{number}")
            await run.close()
        gc.collect()
        assert len(asyncio.all_tasks()) <= 3
