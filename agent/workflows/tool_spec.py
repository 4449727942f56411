"""Workflow and StructuredOutput as models see them: data files, and nothing imported for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from gatewright.tools.protocol import JsonObject, ToolSpec

WORKFLOW, ANSWER = "Workflow", "StructuredOutput"
SHARE = 0.01  # of a window: what the list of saved ones may take
CHARACTERS = 4  # of a token
SIZES = {"small": 5, "medium": 15, "large": 50}
_FOLDER = Path(__file__).parent / "prompts"


def workflow_spec(
    saved: Sequence[tuple[str, str]], window: int, *, short: bool, size: str
) -> ToolSpec:
    """With the saved ones by name and description, as far as there is room for them.

    The short form says how to ask for the long one: it is rarely needed, and most of it is.
    """
    room = round(window * SHARE) * CHARACTERS
    if not short:
        return ToolSpec(WORKFLOW, guide(saved, room, size), _schema("schema.json"))
    text = _text("workflow.short.md")
    names = ", ".join(name for name, _ in sorted(saved))
    if names and len(names) <= room:
        text = f"{text} Saved: {names}"
    return ToolSpec(WORKFLOW, text, _schema("schema.short.json"))


def guide(saved: Sequence[tuple[str, str]], room: int, size: str) -> str:
    """All there is to know before a script is written; the list takes `room` characters."""
    text = _text("workflow.md")
    if most := SIZES.get(size):
        text = f"{text}\n- Unless the person says otherwise: {most} agents at most."
    if listed := _listed(saved, room):
        text = f"{text}\n\nSaved workflows:\n{listed}"
    return text


def answer_spec(schema: JsonObject) -> ToolSpec:
    """The tool that takes an answer which no API holds to its schema."""
    text = "Give your whole answer, once, when the work is done: the input is the answer."
    if schema.get("type") == "object":
        return ToolSpec(ANSWER, text, schema)
    wrapped: JsonObject = {
        "type": "object",
        "properties": {"value": schema},
        "required": ["value"],
        "additionalProperties": False,
    }
    return ToolSpec(ANSWER, text, wrapped)


def agents_section() -> str:
    """What all agents of workflows are told, behind their own prompt."""
    return _text("agent.md")


def _listed(saved: Sequence[tuple[str, str]], room: int) -> str:
    lines: list[str] = []
    for name, description in sorted(saved):
        line = f"- {name}: {' '.join(description.split())}"
        if len(line) > room:
            line = f"- {name}"
        if len(line) > room:
            break
        room -= len(line) + 1
        lines.append(line)
    return "\n".join(lines)


@cache
def _schema(name: str) -> JsonObject:
    return msgspec.json.decode(_text(name), type=JsonObject)


@cache
def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8").strip()
