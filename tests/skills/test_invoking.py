"""Invoked in a composed session: by the model and by a person, through the real gate."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gatewright.agent.record.events import (
    Decided,
    SkillInvoked,
    UserMessage,
)
from gatewright.tools.protocol import TextContent
from tests.permissions.composed import Desk, desk

SKILLS = ".claude/skills"


def skill(top: Path, name: str, body: str, front: str = "", place: str = SKILLS) -> Path:
    folder = top / place / name
    folder.mkdir(parents=True)
    lines = f"name: {name}\ndescription: What {name} is for\n{front}".rstrip()
    file = folder / "SKILL.md"
    file.write_text(f"---\n{lines}\n---\n{body}", encoding="utf-8")
    return file


def call(name: str, args: str = "", id: str = "s1") -> str:
    return f"call[{id}]: Skill {json.dumps({'skill': name, 'args': args})}"


@asynccontextmanager
async def opened(folder: Path, *script: str, **options: Any) -> AsyncGenerator[Desk]:
    """`folder` holds `home` and `project` as `desk` makes them; skills are there already."""
    async with desk(folder, script, **options) as made:
        yield made


async def turns(made: Desk, *lines: str) -> None:
    for line in lines:
        if line.startswith("/"):
            await made.session.run_command(line)
        else:
            made.session.submit(line)
        await made.session.idle()


def texts(made: Desk, request: int = -1) -> str:
    return "\n".join(made.words(request))


async def test_the_model_invokes_one(tmp_path: Path) -> None:
    project = tmp_path / "project"
    file = skill(project, "deploy", "Deploy $ARGUMENTS from ${SKILL_DIR}.\n")
    (file.parent / "scripts").mkdir()
    (file.parent / "scripts" / "go.sh").write_text("echo", encoding="utf-8")
    async with opened(tmp_path, call("deploy", "to x"), "say: done") as made:
        await turns(made, "go")
        result = await made.finished("s1")
        assert f"Deploy to x from {file.parent}." in result
        assert "Files there: scripts/go.sh" in result
        (told,) = made.seen.of(SkillInvoked)
        assert (told.name, told.origin, told.path) == ("deploy", "project", str(file))
        assert (told.arguments, told.files, told.call_id) == (4, 1, "s1")
        decided = await made.decided("s1")
        assert decided.behavior == "allow"
        assert "deploy (.claude/skills/deploy/SKILL.md)" in decided.reason


async def test_a_person_types_one(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "Deploy $0 with !`echo $1 | tr a-z A-Z`.\n")
    async with opened(tmp_path, "say: done") as made:
        await turns(made, "/deploy here 'it now'")
        said = texts(made)
        assert "Deploy here with IT NOW." in said
        assert "/deploy here 'it now'" in said
        (typed,) = [e for e in made.seen.of(UserMessage) if not e.hidden]
        assert typed.content == (TextContent("/deploy here 'it now'"),)
        (told,) = made.seen.of(SkillInvoked)
        assert told.call_id == ""
        (decided,) = made.seen.of(Decided)
        assert decided.tool == "Bash"
        assert "which you typed" in decided.reason
