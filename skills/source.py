"""Skill and SlashCommand as tools: which skill a call is about, as facts for the gate.

What invoking one comes to is the `Invoking` of whoever knows the session.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import msgspec

from gatewright.tools.access import Access, Kind, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import (
    JsonObject,
    Run,
    Tool,
    ToolContext,
    ToolFailure,
    ToolResult,
    ToolSpec,
)

SKILL, SLASH = "Skill", "SlashCommand"
ARGUMENTS = 20_000  # characters


class About(msgspec.Struct, frozen=True):
    """A skill as the gate speaks of it; `by` names it and its file in a sentence for people."""

    name: str
    origin: str
    by: str


class Invoking(Protocol):
    def about(self, name: str) -> About:
        """Raises ToolFailure where the model invokes nothing of that name, and why."""
        ...

    def invoke(self, name: str, arguments: str, ctx: ToolContext) -> Run: ...


class Asked(msgspec.Struct, frozen=True):
    skill: str
    args: str = ""


class Line(msgspec.Struct, frozen=True):
    command: str

    @property
    def name(self) -> str:
        return self.command.strip().removeprefix("/").partition(" ")[0]

    @property
    def arguments(self) -> str:
        return self.command.strip().partition(" ")[2].strip()


class SkillTool(StructTool[Asked]):
    name, input = SKILL, Asked
    time_limit = math.inf

    def __init__(self, invoking: Invoking) -> None:
        self._invoking = invoking

    def read(self, raw: JsonObject) -> Asked:
        """Null is nothing said, and the slash of a command is no part of its name."""
        asked = super().read({key: value for key, value in raw.items() if value is not None})
        if len(asked.args) > ARGUMENTS:
            raise ToolFailure(f"The arguments are longer than {ARGUMENTS:,} characters.")
        asked = Asked(asked.skill.strip().removeprefix("/"), asked.args)
        self._invoking.about(asked.skill)  # what cannot be invoked is asked about by nobody
        return asked

    def access(self, input: Asked, where: Where) -> Access:
        del where
        return _access(self._invoking.about(input.skill), "skill")

    def title(self, input: Asked, where: Where) -> tuple[str, str]:
        del where
        return "Skill", " ".join((input.skill, *input.args.split()))[:200]

    def view(self, input: Asked, result: ToolResult | None) -> Sequence[Block]:
        return (Text(input.args, "dim"),) if result is None and input.args else ()

    async def run(self, input: Asked, ctx: ToolContext) -> Run:
        async for item in self._invoking.invoke(input.skill, input.args, ctx):
            yield item


class SlashCommandTool(StructTool[Line]):
    """The older name: only what is a skill or a command file is run by it."""

    name, input = SLASH, Line
    time_limit = math.inf

    def __init__(self, invoking: Invoking) -> None:
        self._invoking = invoking

    def read(self, raw: JsonObject) -> Line:
        line = super().read(raw)
        if not line.command.strip().startswith("/"):
            raise ToolFailure('The command is written as "/name arguments".')
        self._invoking.about(line.name)
        return line

    def access(self, input: Line, where: Where) -> Access:
        del where
        about = self._invoking.about(input.name)
        named = f"/{about.name} {input.arguments}".rstrip()
        return msgspec.structs.replace(_access(about, "command"), subject=named)

    def title(self, input: Line, where: Where) -> tuple[str, str]:
        del where
        return "Skill", input.command.strip()[:200]

    async def run(self, input: Line, ctx: ToolContext) -> Run:
        async for item in self._invoking.invoke(input.name, input.arguments, ctx):
            yield item


class SkillSource:
    """`offers` says whether Skill and SlashCommand are in the array of tools; both are callable."""

    def __init__(self, invoking: Invoking, *, skill: bool = True, slash: bool = False) -> None:
        self._offered = {SKILL: skill, SLASH: slash}
        self._tools: dict[str, Tool[Any]] = {
            SKILL: SkillTool(invoking), SLASH: SlashCommandTool(invoking),
        }  # fmt: skip

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        made = {SKILL: _skill_spec, SLASH: _slash_spec}
        return [spec(short=short) for name, spec in made.items() if self._offered[name]]

    def find(self, name: str) -> Tool[Any] | None:
        return self._tools[name] if self._offered.get(name) else None


def _access(about: About, kind: Kind) -> Access:
    return Access(kind=kind, subject=about.name, origin=about.origin, by=about.by)


def _skill_spec(*, short: bool) -> ToolSpec:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "skill": {"type": "string", "description": "Its name"},
            "args": {"type": "string", "description": "What it is about"},
        },
        "required": ["skill"],
    }
    return ToolSpec(SKILL, _text("skill", short=short), schema)


def _slash_spec(*, short: bool) -> ToolSpec:
    schema: JsonObject = {
        "type": "object",
        "properties": {"command": {"type": "string", "description": "/name arguments"}},
        "required": ["command"],
    }
    return ToolSpec(SLASH, _text("slash_command", short=short), schema)


@cache
def _text(name: str, *, short: bool) -> str:
    folder = Path(__file__).parent / "prompts"
    brief = folder / f"{name}.short.md"
    path = brief if short and brief.exists() else folder / f"{name}.md"
    return path.read_text(encoding="utf-8").strip()
