"""Plugs in what leads to workflows: the saved ones with a command for each, and opting in.

Scripts are read in a thread, and what is built in is known without reading.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import Command, CommandContext, Handler, Looking
from gatewright.agent.extensions.contribution import Contribution, part_of
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.workflows.off import workflows_off
from gatewright.agent.extensions.workflows.runs_part import RunsPart
from gatewright.agent.extensions.workflows.saved_commands import SavedCommands
from gatewright.agent.extensions.workflows.saved_here import book_of
from gatewright.agent.plugins.parts import PluginParts
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.workflows.opting_in import OptIn
from gatewright.agent.workflows.tool_spec import WORKFLOW

if TYPE_CHECKING:
    from gatewright.agent.workflows.runs.views import RunBook


def runs_command(run: Handler) -> Command:
    """Looks at runs; what it does is loaded when it is typed."""
    return Command(
        name="workflows",
        summary="Runs of workflows: look into them, stop, resume, keep their scripts",
        args="[ID | stop ID | resume ID [--budget N] | save ID]",
        run=run,
    )


async def plug_saved(host: Host) -> Contribution:
    book = book_of(host, lambda: workflows_off(host.around))
    await asyncio.to_thread(book.shelf)
    commands = SavedCommands(host, book)
    if (plugins := part_of(host.brought, PluginParts)) is not None:
        plugins.listen(commands.again)
    opting = OptIn(
        there=lambda: host.tools.find(WORKFLOW) is not None,
        counts=lambda: host.around.settings.ui.ultracode_keyword,
        publish=host.publish,
    )

    def part() -> RunsPart | None:
        return None if workflows_off(host.around) else part_of(host.brought, RunsPart)

    def runs() -> RunBook | None:
        return found.book if (found := part()) is not None else None

    async def run(context: CommandContext) -> Outcome:
        from gatewright.agent.extensions.workflows.workflows_command import WorkflowsCommand  # noqa: PLC0415  lazy: 2 ms

        return await WorkflowsCommand(host, runs).run(context)

    panel = runs_command(run)
    return Contribution(
        commands=(
            lambda: (panel,) if part() is not None else (),
            Looking(commands.now, commands.look_aside),
        ),
        announcements=(opting.words,),
        brings=(opting.brings,),
        parts=(book, opting),
    )


def wanted(around: Surroundings) -> bool:
    """Not where no turn is ever run."""
    return not around.options.served


SAVED = Extension(name="saved workflows", plug=plug_saved, wanted=wanted)
