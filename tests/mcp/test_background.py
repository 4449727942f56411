"""Calls that take long: sent to the background by a person or by time, and told once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import TasksChanged
from tests.fakes.near_server import NEAR, Near, instead
from tests.fakes.waiting import eventually
from tests.mcp.test_session import connected
from tests.permissions.composed import Desk, desk

TOOLS = {"tools": [{"name": "long", "inputSchema": {"type": "object"}}]}
CALL = "call[c1]: mcp__fake__long {}"
OUTPUT = 'call[c2]: TaskOutput {"task_id": "mcp_1", "block": true, "timeout": 5000}'
OWN = {"mcpServers": {"fake": NEAR}, "permissions": {"allow": ["mcp__fake"]}}


class Long(Near):
    """Its one call takes until it is let go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        super().__init__({"tools/list": TOOLS, "tools/call": self._long})

    async def _long(self, params: dict[str, Any]) -> dict[str, Any]:
        del params
        await self.go.wait()
        return {"content": [{"type": "text", "text": "at last"}]}


async def begun(made: Desk, server: Long) -> None:
    await connected(made)
    made.session.submit("go")
    await eventually(lambda: bool(server.of("tools/call")))


async def test_a_person_sends_one_there_and_its_end_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Long()
    instead(monkeypatch, server)
    async with desk(tmp_path, [CALL, OUTPUT, "say: done", "say: more"], own=OWN) as made:
        await begun(made, server)
        await eventually(lambda: made.session.to_background() == 1)
        assert "goes on in the background as mcp_1" in await made.finished("c1")
        server.go.set()
        assert "at last" in await made.finished("c2")
        await made.ended()


async def test_after_a_while_one_goes_there_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Long()
    instead(monkeypatch, server)
    own = {**OWN, "mcp": {"autoBackgroundSeconds": 1}}
    async with desk(tmp_path, [CALL, "say: done", "say: told"], own=own) as made:
        await begun(made, server)
        assert "goes on in the background as mcp_1" in await made.finished("c1")
        await made.ended()
        server.go.set()
        await made.ended(2)
        assert "mcp_1" in "\n".join(made.words(-1))
        assert made.seen.of(TasksChanged)


@pytest.mark.parametrize("seconds", [0, 60])
async def test_one_that_is_stopped_is_cancelled_at_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    server = Long()
    instead(monkeypatch, server)
    own = {**OWN, "mcp": {"autoBackgroundSeconds": seconds}}
    async with desk(tmp_path, [CALL, "say: done"], own=own) as made:
        await begun(made, server)
        made.session.interrupt()
        await made.ended()
        await eventually(lambda: bool(server.of("notifications/cancelled")))
