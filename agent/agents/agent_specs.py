"""Agent and SendMessage as a model sees them; nothing is imported for it but the kinds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from gatewright.agent.agents.kind import DEFAULT_KIND, AgentKind
from gatewright.tools.protocol import JsonObject, ToolSpec

AGENT, TASK, SEND = "Agent", "Task", "SendMessage"
MODES = ("default", "acceptEdits", "plan", "dontAsk")


def agent_spec(kinds: Sequence[AgentKind], listing: str, *, short: bool = False) -> ToolSpec:
    """With what may be started; `listing` has its words."""
    return ToolSpec(AGENT, f"{_text('agent', short=short)}\n\n{listing}".strip(), _schema(kinds))


def send_spec(*, short: bool = False, team: bool = False) -> ToolSpec:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "message": {"type": ["string", "object"]} if team else {"type": "string"},
            "summary": {"type": "string"},
        },
        "required": ["to", "message"],
    }
    text = _text("send_message", short=short)
    if team:
        text = f"{text}\n\n{_text('send_message_team', short=short)}"
    return ToolSpec(SEND, text, schema)


def _schema(kinds: Sequence[AgentKind]) -> JsonObject:
    usual = any(kind.name == DEFAULT_KIND for kind in kinds)
    kind: JsonObject = {"type": "string", "description": "Which kind of agent"}
    if usual:
        kind["description"] = f"Default: {DEFAULT_KIND}"
    return {
        "type": "object",
        "properties": {
            "description": {
                "type": "string",
                "description": "3-5 words",
            },
            "prompt": {"type": "string"},
            "subagent_type": kind,
            "model": {"type": "string"},
            "run_in_background": {"type": "boolean"},
            "name": {"type": "string", "description": "a-z, 0-9, -"},
            "isolation": {"type": "string", "enum": ["worktree"]},
            "mode": {
                "type": "string",
                "enum": list(MODES),
                "description": "Only to be stricter",
            },
        },
        "required": ["description", "prompt"]
        if usual
        else ["description", "prompt", "subagent_type"],
    }


@cache
def _text(name: str, *, short: bool) -> str:
    folder = Path(__file__).parent / "prompts"
    brief = folder / f"{name}.short.md"
    path = brief if short and brief.exists() else folder / f"{name}.md"
    return path.read_text(encoding="utf-8").strip()
