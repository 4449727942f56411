"""TeamCreate and TeamDelete: a common task list for the named agents of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from gatewright.agent.teams.team import TeamError
from gatewright.tools.access import Effect, Row, Where
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult, ToolSpec

CREATE, DELETE = "TeamCreate", "TeamDelete"
OFF = "Teams are off here. The person turns them on with --team or the setting agents.teams."


class Create(msgspec.Struct, frozen=True):
    team_name: str
    description: str = ""


class Delete(msgspec.Struct, frozen=True):
    pass


class Leading(Protocol):
    @property
    def on(self) -> bool: ...
    async def create(self, name: str, description: str) -> str:
        """What to tell the model. Raises TeamError, OSError."""
        ...

    async def delete(self) -> str: ...


class TeamCreate(StructTool[Create]):
    name, input, effects = CREATE, Create, Effect.FREE
    row = Row("free", "team_name", ("description",), coordination=True)

    def __init__(self, leading: Leading) -> None:
        self._leading = leading

    def title(self, input: Create, where: Where) -> tuple[str, str]:
        del where
        return "Begin the team", input.team_name

    async def run(self, input: Create, ctx: ToolContext) -> Run:
        del ctx
        if not self._leading.on:
            raise ToolFailure(OFF)
        try:
            text = await self._leading.create(input.team_name.strip(), input.description)
        except (TeamError, OSError) as error:
            raise ToolFailure(f"The team was not begun: {error}") from error
        yield ToolResult.text(text, summary=input.team_name, data={"team_name": input.team_name})


class TeamDelete(StructTool[Delete]):
    name, input, effects = DELETE, Delete, Effect.FREE
    row = Row("free", coordination=True)

    def __init__(self, leading: Leading) -> None:
        self._leading = leading

    def title(self, input: Delete, where: Where) -> tuple[str, str]:
        del input, where
        return "End", "the team"

    async def run(self, input: Delete, ctx: ToolContext) -> Run:
        del input, ctx
        try:
            text = await self._leading.delete()
        except (TeamError, OSError) as error:
            raise ToolFailure(f"The team was not ended: {error}") from error
        yield ToolResult.text(text, summary="ended")


SPECS: Sequence[ToolSpec] = (
    ToolSpec(
        CREATE,
        "Begin a team: agents that you start with a `name` and `run_in_background` become members, "
        "share the list of TaskCreate, TaskUpdate, TaskList and TaskGet, and take the next free "
        "task by themselves when they end a turn. First begin the team, then add the tasks with "
        "what they wait for, then start the members. SendMessage reaches them by name.",
        {
            "type": "object",
            "properties": {"team_name": {"type": "string"}, "description": {"type": "string"}},
            "required": ["team_name"],
        },
    ),
    ToolSpec(
        DELETE,
        "End the team: its task list and mail are removed. Not while a member is at work.",
        {"type": "object", "properties": {}},
    ),
)
