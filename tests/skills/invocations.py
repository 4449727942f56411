"""Skills that are invoked in a composed session, for the tests of what comes of it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.permissions.composed import Desk, desk

SKILLS = ".claude/skills"
MAKE = """call[m]: Bash {"command": "mkdir made"}"""


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
