"""What agents are told of skills: as the main one is, if they may invoke any; a kind alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.extensions.skills.telling import HEAD
from tests.agents.test_types_at_work import define, offered, ran, start
from tests.permissions.composed import desk

LIST = HEAD.splitlines()[0]


def skill(folder: Path, name: str) -> None:
    path = folder / "project/.claude/skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\ndescription: About {name}.\n---\nDo {name}.\n", encoding="utf-8")


def told(body: dict[str, Any]) -> str:
    system: str = json.dumps(body["system"])
    return system


async def test_an_agent_is_told_of_the_skills_there_are(tmp_path: Path) -> None:
    skill(tmp_path, "rename")
    script = [start("general-purpose"), "say: found it", "say: done"]
    async with desk(tmp_path, script) as made:
        await ran(made)
        main, child, _ = made.server.bodies
    assert "Skill" in offered(child)
    for body in (main, child):
        assert LIST in told(body) and "- rename: About rename." in told(body)


async def test_two_of_one_kind_are_told_the_same_whatever_came_between(tmp_path: Path) -> None:
    skill(tmp_path, "rename")
    script = [
        start("general-purpose"), "say: one", "say: done",
        start("general-purpose", "c2"), "say: two", "say: done",
    ]  # fmt: skip
    async with desk(tmp_path, script) as made:
        await ran(made)
        skill(tmp_path, "later")
        await ran(made, "c2")
        first, second = made.server.bodies[1], made.server.bodies[4]
        announced = json.dumps(made.server.bodies[3]["messages"])
    assert "- later: About later." in announced
    assert told(first) == told(second) and "- rename: About rename." in told(first)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("reader", "tools: Read"), ("plain", "disallowedTools: Skill"), ("Plan", "")],
)
async def test_who_cannot_invoke_any_is_told_of_none(
    tmp_path: Path, kind: str, fields: str
) -> None:
    skill(tmp_path, "rename")
    if fields:
        define(tmp_path, kind, fields)
    async with desk(tmp_path, [start(kind), "say: found it", "say: done"]) as made:
        await ran(made)
        child = next(b for b in made.server.bodies if "You are Gatewright" not in told(b))
    assert "Skill" not in offered(child) and LIST not in told(child)
