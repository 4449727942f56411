"""Where a session works, as servers are told: when they ask, and when it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.near_server import NEAR, Near, instead
from tests.fakes.waiting import eventually
from tests.mcp.test_session import connected
from tests.permissions.composed import desk


async def test_an_added_directory_is_told_to_who_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = Near({})
    instead(monkeypatch, near)
    other = tmp_path / "other"
    other.mkdir()
    async with desk(tmp_path, ["say: hi"], own={"mcpServers": {"fake": NEAR}}) as made:
        await connected(made)

        async def roots() -> list[Any]:
            answer = await near.ask("roots/list", {})
            return [each["uri"] for each in answer["result"]["roots"]]

        assert await roots() == [made.project.as_uri()]
        assert not near.of("notifications/roots/list_changed")
        await made.session.run_command(f"/add-dir {other}")
        await eventually(lambda: bool(near.of("notifications/roots/list_changed")))
        assert await roots() == [made.project.as_uri(), other.as_uri()]
