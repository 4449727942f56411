"""What agents use is counted for each, each kind and the session, and outlives the process."""

from __future__ import annotations

import asyncio

import pytest

from gatewright.agent.commands.outcome import Page
from gatewright.agent.record.agent_costs import KEPT, AgentCosts
from gatewright.agent.record.events import (
    AgentFinished,
    AgentStarted,
    AssistantMessage,
    Cleared,
    Envelope,
    Noticed,
    TurnEnded,
    UsageChanged,
)
from gatewright.agent.record.messages import Usage
from gatewright.agent.session.children import AgentRun, AgentSpec
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Table
from tests.fakes.house import House, house
from tests.fakes.recorder import Recorder
from tests.fakes.waiting import PATIENCE

EACH = 0.015  # dollars of an answer of the scripted model
HELLO = "say: hello\n---\n"


async def asked(made: House, text: str = "hi") -> None:
    made.session.submit(text)
    await made.session.idle()


async def run(
    made: House, name: str, *, kind: str = "Explore", parent: str = MAIN, cost: float = 0.0
) -> AgentRun:
    limits = Limits(cost=cost)
    spec = AgentSpec(name=name, kind=kind, prompt=f"task of {name}", parent=parent, limits=limits)
    started = made.session.spawn(spec)
    async with asyncio.timeout(PATIENCE):
        await started.idle()
    return started


async def test_the_session_costs_what_all_its_agents_cost() -> None:
    async with house(HELLO * 5) as made, Recorder(made.session) as seen:
        await asked(made)
        first = await run(made, "a1")
        await run(made, "b1", kind="Plan", parent=first.path)
        await (await run(made, "a2")).close()
        assert made.session.spent.cost == pytest.approx(EACH * 4)
        assert made.session.spent.usage == Usage(input=40, output=20)
        said = await made.session.run_command("/cost")
        assert isinstance(said, Page)
        table, agents = said.fallback.blocks
        assert isinstance(table, Table)
        assert isinstance(agents, Table)
        assert [row[0] for row in table.rows] == ["turn 1", "Explore (2)", "Plan (1)", "session"]
        assert [row[-1] for row in table.rows] == ["$0.0150", "$0.0300", "$0.0150", "$0.0600"]
        assert [row[0] for row in agents.rows] == ["Explore: a1", "Plan: b1", "Explore: a2"]
        await seen.until(AgentFinished)
        told = seen.of(UsageChanged)[-1]
        assert told.cost == pytest.approx(EACH * 4), "the screen is told while agents work"


async def test_an_end_says_what_it_and_those_below_it_used() -> None:
    async with house(HELLO * 3) as made, Recorder(made.session) as seen:
        await asked(made)
        first = await run(made, "a1")
        below = await run(made, "b1", kind="Plan", parent=first.path)
        await below.close()
        await first.close()
        ended = await seen.until(AgentFinished, where=lambda event: event.child == first.path)
        assert ended.cost == pytest.approx(EACH)
        assert ended.usage == Usage(input=10, output=5)
        assert [(each.path, each.kind) for each in ended.below] == [("main/a1/b1", "Plan")]
        stored = [each.event for each in made.session.subscribe().waiting() if each.agent == MAIN]
        again = AgentCosts.after(stored)
        assert again.cost == pytest.approx(EACH * 2)
        assert [(each.kind, each.count) for each in again.kinds()] == [("Explore", 1), ("Plan", 1)]
        assert again.since_start == 0.0


def paid(agent: str, cost: float = 1.0) -> Envelope:
    said = AssistantMessage(id="m", model="m", parts=(), usage=Usage(input=1), cost=cost)
    return Envelope(seq=1, uuid="u", parent="", timestamp=0.0, agent=agent, event=said)


def started(child: str, kind: str = "Explore") -> Envelope:
    event = AgentStarted(child=child, kind=kind, prompt="")
    return Envelope(seq=1, uuid="u", parent="", timestamp=0.0, agent=MAIN, event=event)


def test_a_boundary_carries_them_and_nothing_counts_twice() -> None:
    before = AgentCosts()
    for envelope in (started("main/a"), paid("main/a"), started("main/b", "Plan"), paid("main/b")):
        before.saw(envelope)
    cleared = before.stamped(Cleared(), MAIN)
    ended = AgentFinished(child="main/a", ok=True, report="", usage=Usage(input=3), cost=3.0)
    again = AgentCosts.after([cleared, ended, ended])
    assert [(each.kind, each.cost) for each in again.kinds()] == [("Explore", 3.0), ("Plan", 1.0)]
    assert before.stamped(Cleared(), "main/a") == Cleared(), "a child's is its own"


def test_ten_thousand_agents_are_kept_by_kind() -> None:
    costs = AgentCosts()
    costs.saw(started("main/first"))
    for number in range(10_000):
        path = f"main/a{number}"
        costs.saw(started(path))
        costs.saw(paid(path))
        costs.saw(finished(path))
    assert len(costs.all) <= KEPT + 1
    (kind,) = costs.kinds()
    assert (kind.count, kind.cost, costs.cost) == (10_001, 10_000, 10_000)
    assert any(each.path == "main/first" for each in costs.all), "it still runs"


def finished(child: str) -> Envelope:
    event = AgentFinished(child=child, ok=True, report="", usage=Usage(input=1), cost=1.0)
    return Envelope(seq=1, uuid="u", parent="", timestamp=0.0, agent=MAIN, event=event)


def test_what_the_process_before_knew_of_an_interrupted_one_counts() -> None:
    costs = AgentCosts.after([AgentStarted(child="main/a", kind="Plan", prompt="")])
    costs.saw(finished("main/a"))
    assert [(each.kind, each.cost) for each in costs.kinds()] == [("Plan", 1.0)]


class TestBudgets:
    async def test_the_sessions_counts_all_agents_before_each_request(self) -> None:
        limits = Limits(cost=3 * EACH)
        async with house(HELLO * 9, limits=limits) as made, Recorder(made.session) as seen:
            await asked(made)
            await run(made, "a1")
            assert seen.of(Noticed) == []
            await run(made, "a2")
            third = await run(made, "a3")
            assert third.stop is Stop.BUDGET_EXHAUSTED
            await asked(made, "more")
            ended = seen.of(TurnEnded)[-1]
            assert (ended.stop, ended.requests) == (Stop.BUDGET_EXHAUSTED, 0)
            assert "$0.0450: the budget of this session is spent" in ended.message
            assert len(made.provider.requests) == 3

    async def test_that_most_is_gone_is_told_once(self) -> None:
        limits = Limits(cost=5 * EACH)
        async with house(HELLO * 9, limits=limits) as made, Recorder(made.session) as seen:
            await asked(made)
            for name in ("a1", "a2", "a3", "a4"):
                await run(made, name)
            await asked(made, "more")
            (notice,) = seen.of(Noticed)
            assert notice.text == "$0.0600 of $0.0750, the budget of this session, are spent."

    async def test_an_agents_own_ends_it_with_what_it_has(self) -> None:
        script = HELLO + "\n---\n".join(f'say: {n}\ncall: ReadA {{"x": {n}}}' for n in range(9))
        async with house(script) as made, Recorder(made.session) as seen:
            await asked(made)
            ended = await run(made, "a1", cost=5 * EACH)
            assert (ended.stop, ended.report) == (Stop.BUDGET_EXHAUSTED, "4")
            assert len(made.provider.requests) == 6
            (notice,) = seen.of(Noticed)
            assert notice.text.startswith("$0.0600 of $0.0750, the budget of agent main/a1")
            assert "Finish with what you have" in str(made.provider.requests[-1].turns)
