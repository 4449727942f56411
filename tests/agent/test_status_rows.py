"""/status, and the page of commands, as a composed session has them."""

from __future__ import annotations

import os
from pathlib import Path

from gatewright.agent.build import open_session
from gatewright.agent.commands.outcome import Page
from gatewright.agent.commands.registry import BUILT_IN
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.session import Session
from gatewright.tools.blocks import Table
from tests.pages.command_line import listed


async def opened(folder: Path, **env: str) -> Session:
    (folder / "project").mkdir()
    home = {"HOME": str(folder), "PATH": os.environ["PATH"], "SHELL": "/bin/bash"}
    options = LaunchOptions(model="anthropic/claude-sonnet-4-5", cwd=str(folder / "project"))
    return await open_session(options, {**home, **env}, interactive=True)


async def test_status_says_where_we_are_and_what_holds(tmp_path: Path) -> None:
    own = tmp_path / ".gatewright" / "settings.json"
    own.parent.mkdir()
    own.write_text("{}", encoding="utf-8")
    session = await opened(tmp_path, ANTHROPIC_API_KEY="k")
    try:
        outcome = await session.run_command("/status")
        assert isinstance(outcome, Page)
        (table,) = outcome.fallback.blocks
        assert isinstance(table, Table)
        rows = {row[0]: row[1] for row in table.rows}
        assert len(rows) == len(table.rows) <= 10
        assert rows["Model"] == "anthropic/claude-sonnet-4-5  (--model)"
        assert rows["Key"] == "ANTHROPIC_API_KEY"
        assert rows["Mode"].startswith("default")
        assert rows["Folder"].endswith("project")
        assert rows["Session"] == session.id
        assert "not trusted" in rows["Project"]
        assert "settings.json" in rows["Settings"]
        assert rows["Sandbox"]
    finally:
        await session.close()


async def test_the_page_of_commands_names_all_that_a_session_has(tmp_path: Path) -> None:
    session = await opened(tmp_path)
    try:
        has = {each.name for each in session.commands if each.source == BUILT_IN}
    finally:
        await session.close()
    assert has - {command.name for command in listed()} == set()
