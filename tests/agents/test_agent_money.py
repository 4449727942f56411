"""What agents may cost, and what is known of it after the session went on in a new process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Page
from gatewright.agent.record.events import AgentFinished, AgentProgressed
from gatewright.tools.blocks import Table
from tests.permissions.composed import ID, Desk, desk

READ = 'call: Read {"file_path": "nowhere.txt"}'


def agent(prompt: str, **fields: object) -> str:
    return f"call[c1]: Agent {json.dumps({'description': 'look', 'prompt': prompt, **fields})}"


async def asked(opened: Desk, text: str = "go") -> None:
    opened.session.submit(text)
    await opened.ended()


async def test_an_agent_ends_with_what_it_has_once_its_budget_is_spent(tmp_path: Path) -> None:
    script = [agent("look"), f"say: I saw this.\n{READ}", "say: never asked for", "say: all done"]
    own = {"agents": {"maxBudgetUsd": 0.00001}}
    async with desk(tmp_path, script, own=own) as opened:
        await asked(opened)
        (ended,) = opened.seen.of(AgentFinished)
        assert (ended.status, ended.ok, ended.report) == ("budget_exhausted", False, "I saw this.")
        assert "I saw this." in await opened.finished("c1")
        assert len(opened.server.bodies) == 3


async def test_the_sums_outlive_the_process(tmp_path: Path) -> None:
    script = [agent("look"), "say: seen", "say: all done"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        cost = opened.session.spent.cost
        table = await _table(opened)
    async with desk(tmp_path, [], options={"resume": ID}) as again:
        assert again.session.spent.cost == pytest.approx(cost)
        assert (await _table(again))[-2:] == table[-2:]
        assert [row[0] for row in table[-2:]] == ["general-purpose (1)", "session"]


async def _table(opened: Desk) -> list[tuple[str, ...]]:
    said = await opened.session.run_command("/cost")
    assert isinstance(said, Page)
    table = said.fallback.blocks[0]
    assert isinstance(table, Table)
    return list(table.rows)


async def test_a_wait_for_the_server_is_shown_and_waited_out(tmp_path: Path) -> None:
    refused = "status: 429 retry_after=1 body={}"
    script = [agent("look"), refused, "say: seen", "say: all done"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        (ended,) = opened.seen.of(AgentFinished)
        assert (ended.status, ended.report) == ("completed", "seen")
        told = [(each.phase, each.state) for each in opened.seen.of(AgentProgressed)]
        assert ("waiting", "waits for the server") in told
