"""How servers look on the screen, at two sizes: the list, one of them, the end of its log."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gatewright.agent.commands.outcome import Offer
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.servers.server_command import ServerRow, ToolRow, servers
from tests.tui.stage import Stage, stage
from tests.tui.svg import check

SIZES = [("wide", (120, 40)), ("narrow", (80, 24))]
TOOLS = tuple(f"mcp__tickets__{name}" for name in ("find_ticket", "close_ticket", "drop_all"))
ROWS = (
    ServerRow(
        name="tickets", source="user", where="~/.gatewright/settings.json", state="connected",
        era="2025-11-25", server="Tickets 2.1", tools=TOOLS, tokens=1_234, pid=4711,
        changed=("mcp__tickets__drop_all",), log="/home/sam/.gatewright/logs/mcp/tickets.log",
    ),
    ServerRow(
        name="docs", source="project", where=".mcp.json", state="failed",
        error="there is no program npx", log="/home/sam/.gatewright/logs/mcp/docs.log",
    ),
)  # fmt: skip


class Book:
    def rows(self) -> Sequence[ServerRow]:
        return ROWS

    def tools(self, name: str) -> Sequence[ToolRow]:
        if name != "tickets":
            return ()
        return (
            ToolRow(TOOLS[0], "reads only", "Find a ticket by its words, newest first",
                    rule="allow mcp__tickets__find_* (user)", pin="accepted"),
            ToolRow(TOOLS[1], "may destroy", "Close a ticket", pin="accepted"),
            ToolRow(TOOLS[2], "may destroy", "Drop every ticket there is",
                    rule="deny mcp__tickets__drop_all (project)", pin="changed"),
        )  # fmt: skip

    def memory(self, name: str) -> int:
        return 58_720_256 if name == "tickets" else 0

    def log(self, name: str) -> str:
        return "listening on <U+001B>[31m stdio\nasked for find_ticket" if name == "tickets" else ""

    async def act(self, verb: str, name: str, more: str = "") -> str:
        return f"{verb} {name} {more}"


async def opened(s: Stage) -> None:
    offer = await servers(Book(), CommandContext())
    assert isinstance(offer, Offer)
    s.app.repl.reach.open_panel(offer)
    await s.see("MCP servers")
    await s.settled()


@pytest.mark.parametrize(("size", "cells"), SIZES)
async def test_servers_one_of_them_and_its_log(size: str, cells: tuple[int, int]) -> None:
    async with stage(size=cells) as s:
        await opened(s)
        check(f"servers-list-{size}", s.app.export_screenshot())
        await s.press("enter")
        await s.see("4711, 56 MB in memory")
        await s.settled()
        check(f"servers-one-{size}", s.app.export_screenshot())
        await s.press("escape")
        await s.see("MCP servers")
        await s.press("ctrl+t")
        await s.see("asked for find_ticket")
        await s.settled()
        check(f"servers-log-{size}", s.app.export_screenshot())
        await s.press("escape")
        await s.see("MCP servers")
        await s.press("down", "ctrl+t")
        await s.see("docs has said nothing beside the protocol.")
