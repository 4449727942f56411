"""What a project may write into its `.mcp.json` to be used unseen, or to stop all questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import Noticed
from gatewright.mcp.configured import MOST_SERVERS
from gatewright.tools.blocks import plain
from tests.permissions.composed import Desk, desk

GOOD = {"command": "no-such-program"}


def written(folder: Path, servers: dict[str, Any]) -> None:
    (folder / "project").mkdir()
    text = json.dumps({"mcpServers": servers})
    (folder / "project" / ".mcp.json").write_text(text, encoding="utf-8")


async def asked_of(made: Desk) -> tuple[str, str]:
    asked = await made.asked()
    assert asked.ask.kind == "trust"
    made.answer(asked, "later")
    return asked.ask.title, "\n".join(map(plain, asked.ask.body))


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/bin/x\0y"},
        {"command": "./x", "cwd": "a\0b"},
        {"command": "x", "env": {"A": "\0"}},
        {"command": "x", "description": "long " * 10_000},
    ],
)
async def test_one_that_nobody_can_judge_is_left_out_and_the_others_are_asked_about(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    written(tmp_path, {"a": entry, "b": GOOD})
    async with desk(tmp_path, ["say: hi"]) as made:
        title, _ = await asked_of(made)
        assert title == "Use the MCP server b of this project?"


async def test_a_home_that_is_nobodys_is_a_name_like_any_other(tmp_path: Path) -> None:
    written(tmp_path, {"a": {"command": "~nobody-of-that-name/x"}, "b": GOOD})
    async with desk(tmp_path, ["say: hi"]) as made:
        title, body = await asked_of(made)
        assert "server a " in title
        assert f"It is {made.project}/~nobody-of-that-name/x" in body


async def test_so_many_that_nobody_answers_for_them_are_none(tmp_path: Path) -> None:
    written(tmp_path, {f"s{number}": GOOD for number in range(MOST_SERVERS + 1)})
    async with desk(tmp_path, ["say: hi"]) as made:
        made.session.submit("go")
        await made.ended()
        told = [notice.text for notice in made.seen.of(Noticed)]
        assert any(f"more than {MOST_SERVERS} servers" in text for text in told)
