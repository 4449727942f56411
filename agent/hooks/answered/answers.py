"""What a handler's output means: exit codes, JSON among noise, and what of it counts for the event.

Pure. What cannot be understood is a failure with a reason, never a word that permits.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

import msgspec

from gatewright.agent.hooks.answered.words import ESCAPES, printed
from gatewright.agent.hooks.events import CONTEXT, EVENTS
from gatewright.agent.hooks.handlers import Handler
from gatewright.agent.hooks.kinds.running import Output
from gatewright.agent.text.terminal_sequence import allowed
from gatewright.tools.protocol import JsonObject
from gatewright.tools.system.untyped_json import obj

Word: TypeAlias = Literal["", "allow", "ask", "defer", "deny"]
BLOCKS = 2
_WORDS: dict[str, Word] = {"allow": "allow", "deny": "deny", "ask": "ask", "defer": "defer"}
_OLD: dict[str, Word] = {"approve": "allow", "block": "deny"}
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_TEXTS = ("stopReason", "systemMessage", "reason")
_FLAGS = ("continue", "suppressOutput")
_PARTS: dict[str, tuple[type, str]] = {
    "sessionTitle": (str, "text"), "initialUserMessage": (str, "text"),
    "displayContent": (str, "text"), "worktreePath": (str, "text"),
    "classifierContext": (str, "text"), CONTEXT: (str, "text"),
    "permissionDecisionReason": (str, "text"), "watchPaths": (list, "list"),
    "suppressOriginalPrompt": (bool, "true or false"), "retry": (bool, "true or false"),
    "reloadSkills": (bool, "true or false"),
}  # fmt: skip
_TRIES = 50  # places where an object may begin behind noise


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """`blocks` is exit 2 or `decision: block`; `parts` is what the event has of its own."""

    failure: str = ""
    blocks: bool = False
    reason: str = ""
    stops: bool = False
    stop_reason: str = ""
    word: Word = ""
    input: JsonObject | None = None
    context: str = ""
    notice: str = ""
    terminal: str = ""
    quiet: bool = False
    plain: str = ""  # stdout that is no JSON
    parts: dict[str, Any] = {}
    notes: tuple[str, ...] = ()  # what was left out of it


class _Failed(ValueError):
    """It does not say what it means."""


def understood(output: Output, handler: Handler) -> Answer:
    """Never raises."""
    if output.failure:
        return Answer(failure=output.failure)
    if output.answer is not None:
        return _checked(output.answer, handler.event, ())
    found, noise, broken = object_in(output.stdout)
    if output.exit == BLOCKS:
        return _blocked(output, handler, found)
    if broken:
        return Answer(failure=f"its JSON does not parse: {broken}")
    if found is not None:
        notes = (f"{len(noise)} characters before the JSON",) if noise else ()
        return _checked(found, handler.event, notes)
    if output.exit not in (0, None):
        said = first_line(output.stderr) or first_line(output.stdout)
        return Answer(failure=f"exit {output.exit}{f': {said}' if said else ''}")
    return Answer(plain=printed(output.stdout).strip())


def first_line(text: str) -> str:
    line = printed(text).strip().partition("\n")[0].strip()
    return line if len(line) <= 200 else line[:199] + "…"


def object_in(text: str) -> tuple[dict[str, Any] | None, str, str]:
    """The JSON object that output is or ends with, what stands before it, and why it is broken."""
    bare = ESCAPES.sub("", text).replace("\r", "").replace("\0", "").strip("\ufeff \t\n")
    if bare.startswith("{"):
        found, broken = _decoded(bare)
        return found, "", broken
    for match in list(_OBJECT.finditer(bare))[:_TRIES]:
        found, _ = _decoded(bare[match.start() :])
        if found is not None:
            return found, bare[: match.start()].strip(), ""
    return None, "", ""


def _decoded(text: str) -> tuple[dict[str, Any] | None, str]:
    try:
        value: Any = msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        return None, str(error)
    return (obj(value), "") if _is_object(value) else (None, "it is no object")


def _blocked(output: Output, handler: Handler, found: dict[str, Any] | None) -> Answer:
    """Exit 2 whatever stdout says: only its reason and what goes with it is taken."""
    said = Answer()
    if found is not None:
        said = _checked(found, handler.event, ())
    part = said.parts.get("permissionDecisionReason") or said.parts.get("message")
    reason = said.reason or (part if isinstance(part, str) else "")
    reason = reason or printed(output.stderr).strip() or f"Blocked by the hook {handler.name}"
    return msgspec.structs.replace(
        said, failure="", blocks=True, reason=reason, word="", input=None, parts={}, plain=""
    )


def _checked(raw: dict[str, Any], event: str, notes: tuple[str, ...]) -> Answer:
    try:
        return _read(raw, event, notes)
    except _Failed as error:
        return Answer(failure=str(error))


def _read(raw: dict[str, Any], event: str, notes: tuple[str, ...]) -> Answer:
    left: list[str] = list(notes)
    texts = {name: _text(raw, name, left) for name in _TEXTS}
    word, blocks = _decision(raw, event)
    left += [f"{name} is not true or false" for name in _FLAGS if _other(raw, name, bool)]
    part = _part(raw, event, left)
    parts = {name: part[name] for name in EVENTS[event].answers if part.get(name) is not None}
    for name, (type, told) in _PARTS.items():
        if _other(parts, name, type):
            left.append(f"{name} is no {told}" if type is not bool else f"{name} is not {told}")
            del parts[name]
    word = _word(parts) or word
    return Answer(
        blocks=blocks,
        reason=texts["reason"] or parts.pop("permissionDecisionReason", ""),
        stops=raw.get("continue") is False,
        stop_reason=texts["stopReason"],
        word=word,
        input=_input(parts),
        context=parts.pop(CONTEXT, ""),
        notice=texts["systemMessage"],
        terminal=_terminal(raw, left),
        quiet=raw.get("suppressOutput") is True,
        parts=parts,
        notes=tuple(left),
    )


def _decision(raw: dict[str, Any], event: str) -> tuple[Word, bool]:
    """The old `decision`, which means allow and deny before a call."""
    decision = raw.get("decision")
    if decision is None:
        return "", False
    if not isinstance(decision, str) or decision not in _OLD:
        raise _Failed(f"its decision is {decision!r}: approve or block")
    if event == "PreToolUse":
        return _OLD[decision], False
    return "", decision == "block"


def _part(raw: dict[str, Any], event: str, left: list[str]) -> dict[str, Any]:
    part = raw.get("hookSpecificOutput")
    if part is None:
        return {}
    if not _is_object(part):
        left.append("hookSpecificOutput is no object")
        return {}
    table = obj(part)
    meant = table.get("hookEventName", event)
    if meant != event:
        left.append(f"its answer is for {meant}")
        return {}
    return table


def _word(parts: dict[str, Any]) -> Word:
    decision = parts.pop("permissionDecision", None)
    if decision is not None:
        if not isinstance(decision, str) or decision not in _WORDS:
            raise _Failed(f"its permissionDecision is {decision!r}: allow, deny, ask or defer")
        return _WORDS[decision]
    said = parts.get("decision")
    if said is None:
        return ""
    behavior = obj(said).get("behavior")
    if behavior not in ("allow", "deny"):
        raise _Failed(f"its decision is {behavior!r}: allow or deny")
    return _WORDS[behavior]


def _input(parts: dict[str, Any]) -> JsonObject | None:
    value = parts.pop("updatedInput", None)
    if value is None:
        value = obj(parts.get("decision")).get("updatedInput")
    if value is None:
        return None
    if not _is_object(value):
        raise _Failed("its updatedInput is no object")
    return obj(value)


def _other(table: dict[str, Any], name: str, type: type) -> bool:
    """Whether it is there, and is no such value."""
    return table.get(name) is not None and not isinstance(table[name], type)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _text(raw: dict[str, Any], name: str, left: list[str]) -> str:
    value = raw.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    left.append(f"{name} is no text")
    return ""


def _terminal(raw: dict[str, Any], left: list[str]) -> str:
    text = _text(raw, "terminalSequence", left)
    if text and not allowed(text):
        left.append("terminalSequence is more than titles, notifications and bells")
    return allowed(text)
