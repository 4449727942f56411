"""Plugins as Claude Code's public Python client names them: `plugins` of its options."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.plugin_trees import full_plugin

sdk = pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import Message, SystemMessage  # noqa: E402  only where it is installed

pytestmark = pytest.mark.e2e
FAKE = str(Path(__file__).parent.parent / "fakes" / "mcp_server.py")
SCRIPT = """
call[c1]: Read {"file_path": "notes.txt"}
call[c2]: mcp__plugin_tidy_shelf__echo {"text": "on the shelf"}
---
say: Done.
"""


def begun(messages: list[Message]) -> dict[str, Any]:
    return next(
        message.data
        for message in messages
        if isinstance(message, SystemMessage) and message.subtype == "init"
    )


async def test_a_plugin_of_the_client_s_options(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = {"command": sys.executable, "args": [FAKE], "alwaysLoad": True}
    folder = full_plugin(tmp_path / "tidy", server=server)
    judge = await serve(SCRIPT.lstrip())
    messages = await judge.query(
        "go",
        plugins=[{"type": "local", "path": str(folder)}],
        allowed_tools=["mcp__plugin_tidy_shelf"],
    )
    data = begun(messages)
    assert data["plugins"] == [{"name": "tidy", "path": str(folder)}]
    assert "tidy:keeper" in data["agents"]
    assert "tidy:dust" in data["slash_commands"] or "dust" in data["slash_commands"]
    assert "on the shelf" in str(judge.bodies()[-1])
    heard = judge.program.home / ".gatewright" / "plugins" / "data" / "tidy@flag" / "heard"
    assert "PostToolUse" in heard.read_text(encoding="utf-8")
