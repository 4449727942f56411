"""Plugs projects in: a list of features, and runs over it. Nothing of them loads before use."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import Command, CommandContext, always
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import Envelope
from gatewright.agent.record.journal import of_main
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.workflows.tool_spec import ANSWER
from gatewright.tools.protocol import Tool, ToolSpec
from gatewright.tools.system.project import FOLDER

if TYPE_CHECKING:
    from gatewright.agent.extensions.project.going_on import GoingOn
    from gatewright.agent.extensions.project.project_session import ProjectSession

ARGS = "init GOAL | add TITLE | list | next | auto | status | retry ID | stop"


class Projects:
    """A source of tools that are there while a list is; `session` is None before the first use."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.session: ProjectSession | None = None
        self.going: GoingOn | None = None
        self._beginning: asyncio.Task[None] | None = None

    def opened(self) -> ProjectSession:
        if self.session is None:
            from gatewright.agent.extensions.project.project_session import ProjectSession  # noqa: PLC0415  lazy: 30 ms

            self.session = ProjectSession(self._host)
        return self.session

    def goes_on(self) -> None:
        """--auto-continue was given."""
        self._beginning = asyncio.create_task(self._begin(), name="goes on")

    async def _begin(self) -> None:
        await self._host.joined.wait()
        from gatewright.agent.extensions.project.going_on import GoingOn  # noqa: PLC0415  lazy: 30 ms

        self.going = GoingOn(self._host, self.opened())
        if self._host.around.options.has_screen and not self._host.around.options.prompt:
            await self._host.session.opened()
            self.going.begins()

    @property
    def limit(self) -> str:
        """Why a limit ended what went on by itself; empty where none did."""
        return self.session.limit if self.session is not None else ""

    @property
    def waits(self) -> bool:
        """Whether there is a list to go on with, where no prompt says something else."""
        there = listed(self._host.around)
        return self._host.around.options.auto_continue and there

    # a source of tools

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        if short or not listed(self._host.around):
            return ()
        from gatewright.agent.autonomy.project.spec import SPEC  # noqa: PLC0415  lazy: with a list

        named = self._host.around.options.tools
        return (SPEC,) if named is None or SPEC.name in named else ()

    def find(self, name: str) -> Tool[Any] | None:
        if name == ANSWER and self.session is not None and self.session.agents.waits:
            from gatewright.agent.extensions.workflows.answer_tool import AnswerTool  # noqa: PLC0415  with an agent

            return AnswerTool(self.session.agents.answer_of)
        if name not in (spec.name for spec in self.specs()):
            return None
        from gatewright.agent.extensions.project.feature_tool import FeatureUpdate  # noqa: PLC0415  lazy: with a call

        return FeatureUpdate(self.opened)

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="project",
                summary="A list of features, done one after the other, each checked and committed",
                args=f"[{ARGS}]",
                run=self._line,
            ),
        )

    async def _line(self, context: CommandContext) -> Outcome:
        from gatewright.agent.extensions.project.project_commands import run  # noqa: PLC0415  lazy: with a line

        return await run(context, self._host, self.opened())

    def saw(self, envelope: Envelope) -> None:
        if self.session is not None:
            self.session.saw(envelope)
        if self.going is not None:
            of_main(self.going.saw)(envelope)

    async def close(self) -> None:
        if self._beginning is not None:
            self._beginning.cancel()
        if self.going is not None:
            await self.going.close()
        if self.session is not None:
            await self.session.close()


def listed(around: Surroundings) -> bool:
    """Whether a project whose word counts has a list."""
    file = around.where.root / FOLDER / "project" / "features.json"
    return around.trusted and os.path.lexists(file)


async def plug_project(host: Host) -> Contribution:
    projects = Projects(host)
    if host.around.options.auto_continue:
        projects.goes_on()
    return Contribution(
        sources=(projects,),
        commands=(always(*projects.commands()),),
        folds=(projects.saw,),
        parts=(projects,),
        close=(projects.close,),
    )


def wanted(around: Surroundings) -> bool:
    """Where a person types, something is said of it, or a list is there."""
    options = around.options
    if options.served:
        return False
    said = options.auto_continue or options.prompt.lstrip().startswith("/project")
    return options.has_screen or said or listed(around)


PROJECT = Extension(name="project", plug=plug_project, wanted=wanted)
