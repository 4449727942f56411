"""What each event tells a handler: the public fields of its standard input, from our moments.

Pure: whatever is asked about the session comes as `Facts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from gatewright.agent.hooks.events import LAYERS
from gatewright.tools import moments as at
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import JsonObject, TextContent, ToolCall, ToolResult

Fields: TypeAlias = dict[str, Any]
PATHS = ("file_path", "notebook_path", "path")  # how tools name a file
PUBLIC = {
    "autoInProject": "acceptEdits",
    "delegate": "default",
    "work": "default",
    "fullAccess": "bypassPermissions",
}  # the modes that others do not know
OVERFLOW = "overflow"


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of the session as the event comes, by agent."""

    session: str
    transcript: Callable[[str], str]
    cwd: Callable[[str], Path]
    path: Callable[[str, str], Path]  # what an agent's tools make of a path
    mode: Callable[[str], str]
    prompt: Callable[[], str]  # the id of the input that is worked on
    effort: Callable[[], str]
    kind: Callable[[str], str]  # what sort of agent
    running: Callable[[str], list[str]]  # its background work, one line each
    defers: Callable[[str], bool]  # whether a call of that agent can wait for another run
    printing: bool = False  # no screen


class Told(msgspec.Struct, frozen=True):
    """An event with what is its own, and what its matcher looks at."""

    event: str
    fields: Fields
    call: ToolCall | None = None


def common(event: str, agent: str, facts: Facts) -> Fields:
    mode = facts.mode(agent)
    found: Fields = {
        "session_id": facts.session,
        "transcript_path": facts.transcript(MAIN),
        "cwd": str(facts.cwd(agent)),
        "hook_event_name": event,
        "permission_mode": PUBLIC.get(mode, mode),
        "mode": mode,
    }
    if prompt := facts.prompt():
        found["prompt_id"] = prompt
    if effort := facts.effort():
        found["effort"] = {"level": effort}
    if agent != MAIN:
        found |= {"agent_id": name_of(agent), "agent_type": facts.kind(agent)}
    return found


def name_of(agent: str) -> str:
    return agent.rpartition("/")[2]


def told(moment: at.Moment, facts: Facts) -> Told:
    """Which event a moment is, and what it says."""
    match moment:
        case at.CallPrepared() | at.PersonNeeded() | at.CallDenied() | at.CallEnded():
            return _of_call(moment, facts)
        case at.BatchEnded(calls=calls):
            each = [
                {**_tool(call, moment.agent, facts), "tool_response": _read(result)}
                for call, result in calls
            ]
            return Told("PostToolBatch", {"tool_calls": each})
        case at.TurnWouldEnd():
            return _turn(moment, facts)
        case at.InputArrives(text=text):
            return Told("UserPromptSubmit", {"prompt": text})
        case at.CommandExpands():
            fields = {
                "expansion_type": "slash_command",
                "command_name": moment.name,
                "command_args": moment.args,
                "command_source": moment.source,
                "prompt": moment.text,
            }
            return Told("UserPromptExpansion", fields)
        case _:
            return _of_session(moment, facts)


def _of_call(
    moment: at.CallPrepared | at.PersonNeeded | at.CallDenied | at.CallEnded, facts: Facts
) -> Told:
    fields = _tool(moment.call, moment.agent, facts)
    match moment:
        case at.CallPrepared():
            return Told("PreToolUse", fields, moment.call)
        case at.PersonNeeded(suggestions=rules, modes=modes):
            switches = [
                {"type": "setMode", "mode": mode, "destination": "session"} for mode in modes
            ]
            fields["permission_suggestions"] = [*map(suggestion, rules), *switches]
            return Told("PermissionRequest", fields, moment.call)
        case at.CallDenied(reason=reason):
            return Told("PermissionDenied", {**fields, "reason": reason}, moment.call)
        case at.CallEnded(result=result, ms=ms) if result.ok:
            response = result.data or {"content": _read(result)}
            fields |= {"tool_response": response, "duration_ms": ms}
            return Told("PostToolUse", fields, moment.call)
        case at.CallEnded(result=result, ms=ms):
            interrupted = result.summary == "interrupted"
            fields |= {"error": _read(result), "is_interrupt": interrupted, "duration_ms": ms}
            return Told("PostToolUseFailure", fields, moment.call)


def _turn(moment: at.TurnWouldEnd, facts: Facts) -> Told:
    agent = moment.agent
    fields: Fields = {
        "stop_hook_active": moment.again > 0,
        "last_assistant_message": moment.said,
        "background_tasks": facts.running(agent),
        "session_crons": [],
    }
    if agent == MAIN:
        return Told("Stop", fields)
    fields |= {
        "agent_id": name_of(agent),
        "agent_type": facts.kind(agent),
        "agent_transcript_path": facts.transcript(agent),
    }
    return Told("SubagentStop", fields)


def _of_session(moment: at.Moment, facts: Facts) -> Told:  # noqa: PLR0911  one case each
    match moment:
        case at.SessionStarts(source=source, model=model, title=title):
            fields: Fields = {"source": source}
            fields |= {"model": model} if model else {}
            fields |= {"session_title": title} if title else {}
            return Told("SessionStart", fields)
        case at.SetUp(trigger=trigger):
            return Told("Setup", {"trigger": trigger})
        case at.SessionEnds(reason=reason):
            return Told("SessionEnd", {"reason": reason})
        case at.Compacting(trigger=trigger, instructions=text):
            return Told("PreCompact", {"trigger": _trigger(trigger), "custom_instructions": text})
        case at.CompactionEnded(trigger=trigger, summary=text):
            return Told("PostCompact", {"trigger": _trigger(trigger), "compact_summary": text})
        case at.AgentStarts(child=child, kind=kind):
            return Told("SubagentStart", {"agent_id": name_of(child), "agent_type": kind})
        case at.ModelChange(before=before, after=after, reason=reason):
            fields = {"old_model": before, "new_model": after, "reason": reason}
            return Told("PreModelSwitch", fields)
        case at.SettingsChange(source=source, path=path):
            return Told("ConfigChange", {"source": LAYERS.get(source, source), "file_path": path})
        case at.MessageShown():
            fields = {
                "turn_id": facts.prompt(),
                "message_id": moment.id,
                "index": moment.index,
                "final": moment.final,
                "delta": moment.delta,
            }
            return Told("MessageDisplay", fields)
        case _:
            return _of_systems(moment)


def _of_systems(moment: at.Moment) -> Told:
    """Of teams, tasks, work trees and servers."""
    match moment:
        case at.AgentIdles(name=name, team=team):
            return Told("TeammateIdle", {"teammate_name": name, "team_name": team})
        case at.TaskMoves():
            fields: Fields = {
                "task_id": moment.id,
                "task_subject": moment.subject,
                "task_description": moment.description,
                "teammate_name": moment.name,
                "team_name": moment.team,
            }
            event = "TaskCompleted" if moment.completed else "TaskCreated"
            return Told(event, _without_empty(fields, keep=("task_id", "task_subject")))
        case at.WorktreeWanted(name=name):
            return Told("WorktreeCreate", {"name": name})
        case at.WorktreeGone(path=path):
            return Told("WorktreeRemove", {"worktree_path": path})
        case at.Elicits():
            fields = {
                "mcp_server_name": moment.server,
                "message": moment.message,
                "mode": moment.mode or "form",
                "url": moment.url,
                "elicitation_id": moment.id,
                "requested_schema": moment.schema,
            }
            return Told("Elicitation", _without_empty(fields, keep=("message",)))
        case at.Elicited():
            fields = {
                "mcp_server_name": moment.server,
                "action": moment.action,
                "content": moment.content,
                "mode": moment.mode or "form",
                "elicitation_id": moment.id,
            }
            return Told("ElicitationResult", _without_empty(fields, keep=("action",)))
        case _:
            raise AssertionError(f"no event is {type(moment).__name__}")


def suggestion(rule: str) -> Fields:
    """A rule that the prompt could offer, as an update of permissions."""
    tool, _, rest = rule.partition("(")
    entry: Fields = {"toolName": tool}
    if rest:
        entry["ruleContent"] = rest.removesuffix(")")
    return {"type": "addRules", "rules": [entry], "behavior": "allow", "destination": "session"}


def rule_of(entry: Mapping[str, Any]) -> str:
    content = entry.get("ruleContent")
    tool = str(entry.get("toolName", ""))
    return f"{tool}({content})" if isinstance(content, str) and content else tool


def _tool(call: ToolCall, agent: str, facts: Facts) -> Fields:
    return {
        "tool_name": call.name,
        "tool_input": _absolute(call.input, agent, facts),
        "tool_use_id": call.id,
    }


def _absolute(input: JsonObject, agent: str, facts: Facts) -> JsonObject:
    """The input with whole paths, as its tool reads them: a hook may look from elsewhere."""
    paths = {
        name: str(facts.path(agent, value))
        for name in PATHS
        if isinstance(value := input.get(name), str) and value
    }
    return {**input, **paths} if paths else input


def _read(result: ToolResult) -> str:
    """What the model reads of it."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def _trigger(trigger: str) -> str:
    return "auto" if trigger == OVERFLOW else trigger


def _without_empty(fields: Fields, *, keep: tuple[str, ...]) -> Fields:
    return {name: value for name, value in fields.items() if value or name in keep}
