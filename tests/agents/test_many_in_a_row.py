"""Agents one after the other, by the hundred: each ends once, and all are known afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.record.events import AgentFinished, AgentStarted
from tests.agents.test_agent_tool import agent
from tests.agents.test_going_on import AGAIN, message
from tests.permissions.composed import desk

OWN = {"agents": {"maxPerSession": 2_000}}
LONG = 600.0


@pytest.mark.parametrize("count", [40, pytest.param(1_000, marks=pytest.mark.proof)])
@pytest.mark.timeout(LONG)
async def test_each_has_its_one_end_and_the_last_of_a_name_goes_on(
    tmp_path: Path, count: int
) -> None:
    script = [
        line
        for n in range(count)
        for line in (
            agent(f"task {n}", name=f"n{n % 7}").replace("[c1]", f"[c{n}]"),
            f"say: report {n}",
        )
    ]
    async with desk(tmp_path, [*script, "say: all"], own=OWN) as made:
        made.session.submit("go")
        await made.seen.until(AgentFinished, count=count, within=LONG)
        await made.session.idle()
        ends = made.seen.of(AgentFinished)
        assert [end.report for end in ends] == [f"report {n}" for n in range(count)]
        assert len({start.child for start in made.seen.of(AgentStarted)}) == count
    last = max(n for n in range(count) if n % 7 == 3)
    script = [message("n3"), "say: sent", *["say: more"] * 4]
    async with desk(tmp_path, script, own=OWN, options=AGAIN) as made:
        made.session.submit("so?")
        assert "goes on with it" in await made.finished("m1")
        await made.seen.until(AgentFinished, where=lambda end: end.background)
        await made.session.idle()
        words = [text for n in range(len(made.server.bodies)) for text in made.words(n)]
        assert f"report {last}" in words, "it is the one that had the name last"


async def test_the_most_of_a_session_is_said(tmp_path: Path) -> None:
    script = [
        agent("one"),
        "say: first",
        agent("two").replace("[c1]", "[c2]"),
        "say: done",
    ]
    async with desk(tmp_path, script, own={"agents": {"maxPerSession": 1}}) as made:
        made.session.submit("go")
        assert "agents.maxPerSession" in await made.finished("c2")
        await made.session.idle()
