"""Settings and definitions that change while an agent works: denials count at its next call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import AgentFinished, AgentStarted
from tests.agents.definition_files import definition
from tests.agents.test_agent_tool import agent
from tests.agents.test_going_on import message
from tests.permissions.composed import Desk, desk

WRITE = 'wait: here\ncall[w]: Write {"file_path": "x.txt", "content": "x"}'
KINDS = "project/.claude/agents"


def own(folder: Path, values: dict[str, Any]) -> None:
    """The person's own settings, as another program leaves them."""
    usual = {"smallModel": "demo", "sandbox": {"enabled": False}}
    path = folder / "home/.gatewright/settings.json"
    path.write_text(json.dumps({**usual, **values}), encoding="utf-8")


def define(folder: Path, more: str) -> None:
    path = folder / KINDS / "helper.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(definition("helper", more), encoding="utf-8")


def heard(made: Desk) -> list[str]:
    return [text for n in range(len(made.server.bodies)) for text in made.words(n)]


@pytest.mark.parametrize("background", [False, True])
async def test_a_denial_that_comes_in_mid_run_holds_for_its_next_call(
    tmp_path: Path, background: bool
) -> None:
    script = [
        agent("look", run_in_background=background),
        *(["say: going on"] if background else []),
        WRITE,
        *["say: done"] * 4,
    ]
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.server.reached("here")
        own(tmp_path, {"permissions": {"deny": ["Write"]}})
        made.server.release("here")
        await made.seen.until(AgentFinished)
        await made.session.idle()
        assert any("A deny rule forbids it: Write" in text for text in heard(made))
    assert not (tmp_path / "project/x.txt").exists()


async def test_a_mode_that_its_parent_loses_is_lost_to_it_at_once(tmp_path: Path) -> None:
    script = [agent("look", run_in_background=True), "say: going on", WRITE, *["say: done"] * 4]
    async with desk(tmp_path, script, mode="acceptEdits") as made:
        made.session.submit("go")
        await made.server.reached("here")
        made.session.set_mode("default")
        made.server.release("here")
        made.answer(await made.asked(), "decline")
        await made.session.idle()
    assert not (tmp_path / "project/x.txt").exists()


async def test_a_type_that_is_taken_away_ends_nobody_and_starts_nobody(tmp_path: Path) -> None:
    """What runs goes on under its own limits; it is not started, and not gone on with."""
    define(tmp_path, "tools: Read")
    start = agent("look", subagent_type="helper", name="ann")
    script = [
        start,
        "wait: here\nsay: looked",
        start.replace("[c1]", "[c2]"),
        message("ann"),
        *["say: done"] * 4,
    ]
    async with desk(tmp_path, script) as made:
        made.session.submit("go")
        await made.server.reached("here")
        own(tmp_path, {"agents": {"disabled": ["helper"]}})
        made.server.release("here")
        assert "looked" in await made.finished("c1")
        assert "agents.disabled names it" in await made.finished("c2")
        assert "cannot go on" in await made.finished("m1")
        await made.session.idle()
        assert len(made.seen.of(AgentStarted)) == 1


async def test_a_definition_that_is_loosened_in_mid_run_loosens_nothing_that_runs(
    tmp_path: Path,
) -> None:
    define(tmp_path, "tools: Read")
    script = [agent("look", subagent_type="helper"), WRITE, *["say: done"] * 4]
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.server.reached("here")
        define(tmp_path, "permissionMode: bypassPermissions")
        made.server.release("here")
        await made.seen.until(AgentFinished)
        await made.session.idle()
        assert any("is not among what may be used here: Read" in text for text in heard(made))
    assert not (tmp_path / "project/x.txt").exists()
