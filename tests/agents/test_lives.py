"""From start to end: places, ends told once, stopping with all that was started, messages."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from gatewright.agent.agents.crew import CrewLimits
from gatewright.agent.agents.life import Life
from gatewright.agent.record.events import AgentProgressed, RequestQueued, ToolStarted
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import ToolFailure
from tests.agents.crews import Team, team
from tests.fakes.job import FakeJob
from tests.fakes.waiting import PATIENCE, eventually

HOLD = "wait: gate\nsay: done\n"


def asked_for(made: Team, count: int) -> bool:
    return len(made.provider.requests) >= count


async def gone(*lives: Life) -> None:
    async with asyncio.timeout(PATIENCE):
        for life in lives:
            await life.gone.wait()


async def told(made: Team) -> None:
    """The main agent has read what waits for it."""
    async with asyncio.timeout(PATIENCE):
        await made.house.session.idle()


async def test_an_end_in_the_background_is_told_once() -> None:
    async with team("say: it is done") as made:
        life = made.start("look")
        await gone(life)
        await told(made)
        (notice,) = made.notices(life.id)
        assert "Status: completed" in notice
        assert "it is done" in notice
        assert f"agentId: {life.id}" in notice
        (end,) = made.ends(life.path)
        assert (end.status, end.report, end.background) == ("completed", "it is done", True)


async def test_who_waits_is_told_by_the_call_alone() -> None:
    async with team() as made:
        life = made.start("look", attended=True)
        await gone(life)
        await told(made)
        assert made.notices(life.id) == []


async def test_who_was_sent_to_the_background_is_told_by_a_notice() -> None:
    async with team(HOLD) as made:
        life = made.start("look", attended=True)
        await made.provider.reached("gate")
        made.crew.release(life)
        made.provider.release("gate")
        await gone(life)
        await told(made)
        assert len(made.notices(life.id)) == 1
        assert len(made.provider.requests) == 1, "the same run, no second request"


async def test_those_beyond_the_limit_wait_in_line() -> None:
    async with team(HOLD, limits=CrewLimits(running=2)) as made:
        lives = [made.start(f"task {n}") for n in range(5)]
        await made.provider.reached("gate")
        await eventually(partial(asked_for, made, 2))
        assert [life.phase for life in lives] == ["running"] * 2 + ["queued"] * 3
        queued = [e for one in made.envelopes if isinstance(e := one.event, AgentProgressed)]
        assert {e.child for e in queued if e.phase == "queued"} == {life.path for life in lives[2:]}
        made.provider.release("gate")
        await gone(*lives)
        assert [life.status() for life in lives] == ["completed"] * 5
        asked = [str(request.turns[0]) for request in made.provider.requests]
        assert [f"task {n}" in text for n, text in enumerate(asked)] == [True] * 5


async def test_one_in_line_can_be_stopped() -> None:
    async with team(HOLD, limits=CrewLimits(running=1)) as made:
        first, second = made.start("one"), made.start("two")
        await made.provider.reached("gate")
        made.crew.stop(second, "person")
        await gone(second)
        assert second.status() == "stopped"
        made.provider.release("gate")
        await gone(first)
        assert len(made.provider.requests) == 1


async def test_a_parent_that_waits_keeps_no_place_from_its_child() -> None:
    async with team(HOLD, limits=CrewLimits(running=1)) as made:
        parent = made.start("parent")
        await made.provider.reached("gate")
        child = made.start("child", attended=True, owner=parent.path, parent=parent.path)
        await eventually(partial(asked_for, made, 2))
        made.provider.release("gate")
        await gone(child)
        made.crew.left_alone(child)
        await gone(parent)
        assert parent.status() == child.status() == "completed"


async def test_stopping_takes_the_whole_tree_along() -> None:
    async with team(HOLD) as made:
        top = made.start("top")
        await made.provider.reached("gate")
        below = made.start("below", owner=top.path, parent=top.path)
        await eventually(partial(asked_for, made, 2))
        last = made.start("last", owner=below.path, parent=below.path)
        job = FakeJob("sleep 100")
        made.house.session.jobs_of(last.path).adopt(job)
        await eventually(partial(asked_for, made, 3))
        made.crew.stop(top, "person")
        await gone(top, below, last)
        assert [each.status() for each in (top, below, last)] == ["stopped"] * 3
        assert job.stopped
        assert made.crew.lives == {}
        assert made.house.session.jobs_of(MAIN).running() == []
        (notice,) = made.notices(top.id)
        assert "by the person" in notice


async def test_its_own_background_work_keeps_it_waiting_and_wakes_it() -> None:
    async with team("wait: gate\nsay: started\n---\nsay: it ended") as made:
        life = made.start("run it")
        await made.provider.reached("gate")
        job = FakeJob("make")
        made.house.session.jobs_of(life.path).adopt(job)
        made.provider.release("gate")
        await eventually(lambda: life.phase == "waiting")
        assert life.running
        job.ended.set()
        await gone(life)
        assert life.said == "it ended"
        assert len(made.provider.requests) == 2
        assert len(made.ends(life.path)) == 1


async def test_a_message_joins_who_works_and_wakes_who_has_ended() -> None:
    async with team("wait: gate\nsay: one\n---\nsay: two") as made:
        life = made.start("look", name="scout")
        await made.provider.reached("gate")
        mail = made.mail()
        assert "next step" in await mail.send(MAIN, "scout", "also there")
        made.provider.release("gate")
        await gone(life)
        assert life.said == "two"
        assert "goes on" in await mail.send(MAIN, "scout", "and once more")
        (again,) = made.crew.lives.values()
        assert again.id == life.id
        await gone(again)
        await told(made)
        assert [event.resumed for event in made.starts(life.path)] == [False, True]
        assert len(made.notices(life.id)) == 2
        asked = str(made.provider.requests[-1].turns)
        assert "also there" in asked
        assert "Message from the main agent" in asked


async def test_a_message_to_one_that_the_person_is_just_stopping_does_not_wake_it() -> None:
    async with team(HOLD) as made:
        life = made.start("look", name="scout")
        await made.provider.reached("gate")
        made.crew.stop(life, "person")
        assert life.running, "it is still ending"
        with pytest.raises(ToolFailure, match="stopped by the person"):
            await made.mail().send(MAIN, "scout", "go on")
        with pytest.raises(ToolFailure, match="stopped by the person"):
            await made.mail().send(MAIN, life.id, "go on")
        made.provider.release("gate")
        assert "goes on" in await made.mail().from_person(life.id, "go on")


async def test_whom_the_person_stopped_only_the_person_wakes() -> None:
    async with team(HOLD) as made:
        life = made.start("look")
        await made.provider.reached("gate")
        assert await made.house.session.stop_task(life.id) == "stopped", "as screens and clients do"
        await gone(life)
        made.provider.release("gate")
        mail = made.mail()
        with pytest.raises(ToolFailure, match="stopped by the person"):
            await mail.send(MAIN, life.id, "go on")
        await mail.from_person(life.id, "go on then")
        (again,) = made.crew.lives.values()
        await gone(again)
        assert again.status() == "completed"
        last = made.provider.requests[-1].turns[-1]
        assert "go on then" in str(last)
        assert "Message from" not in str(last)


async def test_a_name_of_another_agent_is_refused() -> None:
    async with team() as made:
        mail = made.mail()
        first = made.start("a", name="scout")
        await gone(first)
        await mail.send(MAIN, "scout", "more")
        (again,) = made.crew.lives.values()
        await gone(again)
        other = made.start("b", name="scout", owner="main", id="a" + "f" * 12)
        made.crew.roster.meant("main/x", "scout", first.id)
        with pytest.raises(ToolFailure, match="another agent now"):
            await mail.send("main/x", "scout", "for the first")
        await gone(other)
        with pytest.raises(ToolFailure, match="There is no agent 'nobody'"):
            await mail.send(MAIN, "nobody", "hello")


async def test_the_session_starts_only_so_many() -> None:
    async with team(limits=CrewLimits(in_session=2)) as made:
        await gone(made.start("a"), made.start("b"))
        with pytest.raises(ToolFailure, match="maxPerSession"):
            made.start("c")


async def test_closing_leaves_nothing() -> None:
    async with team(HOLD) as made:
        lives = [made.start(f"task {n}") for n in range(4)]
        await made.provider.reached("gate")
        await made.crew.close()
        assert [life.status() for life in lives] == ["stopped"] * 4
        assert all(len(made.ends(life.path)) == 1 for life in lives)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_it_goes_on_with_the_call_that_was_asked_about() -> None:
    async with team(HOLD) as made:
        life = made.start("look", attended=True)
        await eventually(lambda: asked_for(made, 1))
        begun = ToolStarted(call_id="a", name="Bash", input={}, verb="Run", target="make")
        life.saw(begun)
        for waiting in (True, True, False):  # two of its calls; one is answered
            made.crew.asks(life.path, waiting)
        assert (life.progressed().state, life.progressed().phase) == ("asks", "waiting")
        made.crew.asks(life.path, False)
        now = life.progressed()
        assert (now.state, now.target, now.phase) == ("Run", "make", "running")
        made.crew.stop(life, "agent")
        await gone(life)


async def test_how_long_the_server_wants_nothing_is_told_as_it_is_by_then() -> None:
    async with team(HOLD) as made:
        life = made.start("look", attended=True)
        await eventually(lambda: asked_for(made, 1))
        life.saw(RequestQueued(seconds=3600, ahead=0))
        assert 0 < life.progressed().wait <= 3600
        assert life.progressed().state == "waits for the server"
        life.saw(ToolStarted(call_id="a", name="Bash", input={}, verb="Run", target="make"))
        assert life.progressed().wait == 0
        made.crew.stop(life, "agent")
        await gone(life)
