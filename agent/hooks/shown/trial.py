"""A trial of hooks: who would hear of an event and who not, and what the answers come to.

The input is a sample of the event, or what somebody gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.hooks.answered.merging import Ran, merged
from gatewright.agent.hooks.configured.book import Book
from gatewright.agent.hooks.configured.matchers import compiled
from gatewright.agent.hooks.engine import Engine
from gatewright.agent.hooks.events import EVENTS, TURN_ENDS
from gatewright.agent.hooks.handlers import Handler
from gatewright.agent.hooks.kinds.running import Firing
from gatewright.tools.access import Access
from gatewright.tools.protocol import ToolCall

TOOL = "Bash"
INPUT = {"command": "echo hello"}
SAMPLES: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "Setup": {"trigger": "init"},
    "SessionEnd": {"reason": "other"},
    "UserPromptSubmit": {"prompt": "Hello"},
    "PostToolUse": {"tool_response": {"stdout": "hello\n"}, "duration_ms": 5},
    "PostToolUseFailure": {"error": "exit 1", "is_interrupt": False, "duration_ms": 5},
    "PermissionRequest": {"permission_suggestions": []},
    "PermissionDenied": {"reason": "A rule denies it."},
    "Notification": {"message": "Somebody is needed.", "notification_type": "permission_prompt"},
    "Stop": {"stop_hook_active": False, "last_assistant_message": "Done."},
    "SubagentStop": {"stop_hook_active": False, "last_assistant_message": "Done."},
    "PreCompact": {"trigger": "manual", "custom_instructions": ""},
    "PostCompact": {"trigger": "manual", "compact_summary": "A summary."},
    "FileChanged": {"event": "change"},
}


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """`others` is who does not hear of it, and why."""

    firing: Firing
    wanted: tuple[Handler, ...]
    others: tuple[tuple[Handler, str], ...]


def sample(event: str, cwd: Path, value: str = "") -> dict[str, Any]:
    """What a handler of that event reads, with values that stand for real ones."""
    row = EVENTS[event]
    found: dict[str, Any] = {
        "session_id": "00000000-0000-4000-8000-000000000000",
        "transcript_path": "",
        "cwd": str(cwd),
        "hook_event_name": event,
        "permission_mode": "default",
        "mode": "default",
    }
    if row.tool:
        found |= {"tool_name": TOOL, "tool_input": dict(INPUT), "tool_use_id": "test"}
    found |= SAMPLES.get(event, {})
    if value and row.matches:
        found[row.matches] = value
    return found


def firing_of(event: str, input: dict[str, Any], cwd: Path, access: Access | None) -> Firing:
    row = EVENTS[event]
    call = None
    if row.tool:
        given = input.get("tool_input")
        call = ToolCall("test", str(input.get("tool_name", "")), given if given else {})
    return msgspec.structs.replace(Firing.of(event, input, cwd=cwd), call=call, access=access)


def tried(engine: Engine, firing: Firing) -> Trial:
    """Who would hear of it. Nothing is run."""
    wanted, book, event = engine.wanted(firing), engine.book, firing.event
    keys = {each.key for each in wanted}
    here = [each for each in book.by_event.get(event, ()) if each.key not in keys]
    others = [(each, _why_not(each, firing)) for each in here]
    return Trial(firing=firing, wanted=wanted, others=(*others, *_off(book, event)))


def _off(book: Book, event: str) -> list[tuple[Handler, str]]:
    return [(off.handler, off.why) for off in book.off if off.handler.event == event]


def _why_not(handler: Handler, firing: Firing) -> str:
    row = EVENTS[firing.event]
    if not compiled(handler.matcher, row)(firing.value):
        return f"its matcher {handler.matcher!r} is not {firing.value!r}"
    if handler.said.condition:
        return f"the call is not one that `if` {handler.said.condition} is about"
    return "it is switched off for this session"


def understanding(ran: Ran) -> str:
    """One answer in words."""
    answer = ran.answer
    if ran.failed:
        return f"failed: {answer.failure}"
    facts = [
        f"decides {answer.word}" if answer.word else "",
        f"blocks: {answer.reason}".removesuffix(": ") if answer.blocks else "",
        f"ends the turn: {answer.stop_reason}" if answer.stops else "",
        f"reason: {answer.reason}" if answer.reason and not answer.blocks else "",
        "another input" if answer.input is not None else "",
        f"context: {answer.context or answer.plain}" if answer.context or answer.plain else "",
        f"tells the person: {answer.notice}" if answer.notice else "",
        *(f"{name}: {value}" for name, value in answer.parts.items()),
        *(f"left out: {note}" for note in answer.notes),
    ]
    return "; ".join(filter(None, facts)) or "nothing to say"


def timed(ran: Ran) -> str:
    """How it came to its end, and when."""
    output = ran.output
    return f"{output.ms} ms" if output.exit is None else f"exit {output.exit}, {output.ms} ms"


def _refusal(event: str) -> str:
    if event in TURN_ENDS:
        return "The turn goes on."
    can = EVENTS[event].block == "refuses" or event == "PermissionRequest"
    return "Refused." if can else ""


def effect(event: str, runs: Sequence[Ran]) -> str:
    """What all answers together would do."""
    verdict = merged(event, runs)
    facts = [
        {
            "": "",
            "allow": "Allowed, where no rule says otherwise.",
            "ask": "A person is asked.",
            "defer": "The call waits for another run.",
            "deny": _refusal(event),
            "stop": "The turn ends.",
        }[verdict.word],
        verdict.text,
        "The input is replaced, and judged anew." if verdict.input is not None else "",
        f"The model reads: {' '.join(verdict.context)}" if verdict.context else "",
    ]
    return " ".join(filter(None, facts)) or "It goes on as if there were no hook."
