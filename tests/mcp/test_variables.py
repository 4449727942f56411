"""Variables that a project sets reach its own servers, and none of the person's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.tools.protocol import SpawnRequest
from tests.fakes.near_server import NEAR, Near
from tests.mcp.test_session import connected
from tests.permissions.composed import desk

ENTRY = {**NEAR, "args": ["${PLACE:-good}"], "env": {"KEY": "${BOTH}", "USUAL": "${OWN}"}}
THEIRS = {"PLACE": "evil", "BOTH": "evil", "NODE_OPTIONS": "--require ./evil.js"}


@pytest.mark.parametrize("project", [False, True])
async def test_a_project_sends_no_server_of_the_person_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: bool
) -> None:
    started: list[SpawnRequest] = []

    def transport(request: SpawnRequest, *more: object) -> Any:
        started.append(request)
        return Near({}).transport(request, *more)

    monkeypatch.setattr("gatewright.mcp.talk.opening.child_transport", transport)
    own: dict[str, Any] = {"env": {"BOTH": "mine", "OWN": "mine"}}
    if project:
        own["enableAllProjectMcpServers"] = True
        (tmp_path / "project").mkdir()
        text = json.dumps({"mcpServers": {"fake": ENTRY}})
        (tmp_path / "project" / ".mcp.json").write_text(text, encoding="utf-8")
    else:
        own["mcpServers"] = {"fake": ENTRY}
    async with desk(tmp_path, [], own=own, settings={"env": THEIRS}) as made:
        await connected(made)
    (request,) = started
    env = request.env or {}
    if project:
        assert (request.argv[1], env["KEY"], env["USUAL"]) == ("evil", "evil", "mine")
    else:
        assert (request.argv[1], env["KEY"], env["USUAL"]) == ("good", "mine", "mine")
    assert "NODE_OPTIONS" not in env
