"""The objects of Claude Code's public JSON dialect, from our values. Pure and stateless."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from gatewright.agent.commands.registry import Command
from gatewright.agent.frontends.sdk.server_lines import known_tools, status
from gatewright.agent.plugins.parts import PluginParts
from gatewright.agent.record.events import (
    AssistantMessage,
    Compacted,
    DiagnosticsTold,
    ModelChanged,
    Noticed,
    RetryScheduled,
    SessionStarted,
    ToolFinished,
)
from gatewright.agent.record.messages import AssistantPart, CallPart, TextPart, ThinkingPart, Usage
from gatewright.agent.servers.server_command import ServerRow
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Content, DocumentContent, ImageContent, TextContent

Line: TypeAlias = dict[str, Any]


def init(
    started: SessionStarted,
    commands: Sequence[str],
    servers: Sequence[ServerRow] = (),
    agents: Sequence[str] = (),
    style: str = "default",
    skills: Sequence[str] = (),
) -> Line:
    """The first object: what there is."""
    failed = [{"name": row.name, "error": row.error} for row in servers if row.error]
    return {
        "type": "system",
        "subtype": "init",
        "cwd": started.cwd,
        "model": started.model,
        "permissionMode": started.mode,
        "tools": known_tools(started.tools, servers),
        "mcp_servers": [status(row) for row in servers],
        "slash_commands": list(commands),
        "agents": list(agents),
        "skills": list(skills),
        "plugins": [],
        "apiKeySource": "none",
        "output_style": style,
        "app": started.app,
        "trusted": started.trusted,
        **({"mcp_server_errors": failed} if failed else {}),
    }


def commands_changed(menu: Sequence[Line]) -> Line:
    return {"type": "system", "subtype": "commands_changed", "commands": list(menu)}


def menu(commands: Iterable[Command]) -> Sequence[Line]:
    """Slash commands as clients list them."""
    return [
        {"name": each.name, "description": each.summary, "argumentHint": each.args}
        for each in commands
    ]


def plugin_lines(parts: PluginParts) -> Line:
    """Of the first object: which are on, and what is wrong with some."""
    wrong = [
        {
            "plugin": fault.plugin,
            "type": "not-loaded" if fault.stopped else "part",
            "message": fault.text,
        }
        for fault in parts.faults
    ]
    on = [{"name": each.name, "path": str(each.root)} for each in parts.plugins]
    return {"plugins": on, **({"plugin_errors": wrong} if wrong else {})}


def by(agent: str) -> Line:
    """Which agent it is about; nothing where it is the main one."""
    return {} if agent == MAIN else {"agent_id": agent.rpartition("/")[2]}


def user(content: Sequence[Content]) -> Line:
    """A message the person sent, given back to who sent it."""
    message = {"role": "user", "content": blocks(content)}
    return {"type": "user", "message": message, "parent_tool_use_id": None, "isReplay": True}


def system(
    event: Compacted | DiagnosticsTold | ModelChanged | Noticed | RetryScheduled,
) -> Line:
    match event:
        case RetryScheduled(attempt=attempt, attempts=attempts, seconds=seconds, reason=reason):
            return {
                "type": "system",
                "subtype": "api_retry",
                "attempt": attempt,
                "max_retries": attempts,
                "retry_delay_ms": round(seconds * 1000),
                "error": reason,
            }
        case Compacted(trigger=trigger, tokens_before=tokens):
            return {
                "type": "system",
                "subtype": "compact_boundary",
                "compact_metadata": {"trigger": trigger, "pre_tokens": tokens},
            }
        case DiagnosticsTold():
            return {
                "type": "system",
                "subtype": "diagnostics",
                "summary": event.summary,
                "text": event.text,
                "errors": event.errors,
                "warnings": event.warnings,
                "solved": event.solved,
                "files": list(event.files),
            }
        case ModelChanged(model=model):
            return {"type": "system", "subtype": "model", "model": model}
        case Noticed(text=text, tone=tone):
            return {"type": "system", "subtype": "notice", "text": text, "tone": tone}


def assistant(message: AssistantMessage, parts: Sequence[AssistantPart]) -> Line:
    """An answer, or as much of it as is told."""
    return {
        "type": "assistant",
        "message": {
            "id": message.id,
            "type": "message",
            "role": "assistant",
            "model": message.model,
            "content": [part_block(part) for part in parts],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage(message.usage),
        },
        "parent_tool_use_id": None,
    }


def stream_event(event: Line) -> Line:
    return {"type": "stream_event", "event": event, "parent_tool_use_id": None}


def part_block(part: AssistantPart) -> Line:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ThinkingPart(redacted=True, opaque=opaque):
            return {"type": "redacted_thinking", "data": opaque}
        case ThinkingPart(text=text, opaque=opaque):
            return {"type": "thinking", "thinking": text, "signature": opaque}
        case CallPart(id=id, name=name, input=input):
            return {"type": "tool_use", "id": id, "name": name, "input": input}


def tool_result(finished: ToolFinished) -> Line:
    content = blocks(finished.content)
    lone = content[0]["text"] if len(content) == 1 and content[0]["type"] == "text" else None
    line: Line = {
        "type": "user",
        "message": {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": finished.call_id,
                    "content": content if lone is None else lone,
                    "is_error": not finished.ok,
                }
            ],
        },
        "parent_tool_use_id": None,
    }
    if finished.data:
        line["tool_use_result"] = finished.data
    return line


def blocks(content: Sequence[Content]) -> list[Line]:
    return [_block(item) for item in content]


def _block(item: Content) -> Line:
    match item:
        case TextContent(text=text):
            return {"type": "text", "text": text}
        case ImageContent(media_type=kind, data=data):
            return {"type": "image", "source": source(kind, data)}
        case DocumentContent(media_type=kind, data=data):
            return {"type": "document", "source": source(kind, data)}


def source(kind: str, data: str) -> Line:
    return {"type": "base64", "media_type": kind, "data": data}


def usage(counts: Usage) -> Line:
    return {
        "input_tokens": counts.input,
        "cache_creation_input_tokens": counts.cache_write,
        "cache_read_input_tokens": counts.cache_read,
        "output_tokens": counts.output,
    }
