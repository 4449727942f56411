"""Plugs autonomy in: work that begins by itself. Nothing of it is loaded before there is any."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import Command, CommandContext, always
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import Envelope, JobChanged
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.transcript.place import project_folder
from gatewright.permissions import modes
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Tool, ToolSpec
from gatewright.tools.system.project import FOLDER

if TYPE_CHECKING:
    from gatewright.agent.extensions.autonomy.autonomy_session import AutonomySession

OFF = "GATEWRIGHT_DISABLE_AUTONOMY"
UNATTENDED = "GATEWRIGHT_UNATTENDED"  # its whole session began by itself, bounded by that mode
NAMES = frozenset({"CronCreate", "CronList", "CronDelete", "Sleep", "Monitor"})


def autonomy_off(around: Surroundings) -> bool:
    return not around.settings.autonomy.enabled or around.env.get(OFF, "") not in ("", "0")


class Autonomy:
    """A source of tools that are found by searching; `session` is None before the first is used."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.session: AutonomySession | None = None

    @property
    def on(self) -> bool:
        return not autonomy_off(self._host.around)

    def opened(self) -> AutonomySession:
        if self.session is None:
            from gatewright.agent.extensions.autonomy.autonomy_session import AutonomySession  # noqa: PLC0415  lazy: 20 ms

            self.session = AutonomySession(self._host)
        return self.session

    # a source of tools

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        if short or not self.on:  # a small model has no room for what it rarely needs
            return ()
        from gatewright.agent.autonomy.tool_specs import SPECS  # noqa: PLC0415  lazy: 1 ms

        options = self._host.around.options
        return tuple(s for s in SPECS if options.tools is None or s.name in options.tools)

    def deferred(self) -> Collection[str]:
        wanted = self._host.around.options.tools
        return [name for name in NAMES if self.on and (wanted is None or name in wanted)]

    def find(self, name: str) -> Tool[Any] | None:
        wanted = self._host.around.options.tools
        if name not in NAMES or not self.on or (wanted is not None and name not in wanted):
            return None
        from gatewright.agent.extensions.autonomy.autonomy_tools import tool_of  # noqa: PLC0415  lazy: with a call

        return tool_of(name, self.opened)

    # commands

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="btw",
                summary="Ask beside the conversation: answered from it, and not kept in it",
                args="QUESTION",
                run=self._btw,
            ),
            Command(
                name="schedule",
                summary="Prompts that run by the clock: list, add, remove, see their runs",
                args="[WHEN PROMPT | rm ID | pause ID | resume ID | run ID | runs]",
                run=partial(self._lines, "schedule"),
            ),
            Command(
                name="loop",
                summary="Have a prompt come again: by an interval, or when the model says",
                args="[INTERVAL] [PROMPT] | stop",
                run=partial(self._lines, "loop"),
            ),
            Command(
                name="autonomy",
                summary="What works by itself here: jobs, runs, limits; pause it, stop all",
                args="[pause | resume | stop]",
                run=partial(self._lines, "autonomy"),
            ),
        )

    async def _btw(self, context: CommandContext) -> Outcome:
        from gatewright.agent.extensions.autonomy.btw import btw  # noqa: PLC0415  lazy: with a line

        return await btw(self._host, context.args.strip())

    async def _lines(self, name: str, context: CommandContext) -> Outcome:
        from gatewright.agent.extensions.autonomy.autonomy_commands import run  # noqa: PLC0415  lazy: with a line

        return await run(name, context.args.strip(), self._host, self.opened, on=self.on)

    def saw(self, envelope: Envelope) -> None:
        if self.session is not None:
            self.session.saw(envelope)

    async def close(self) -> None:
        if self.session is not None:
            await self.session.close()


def something_stored(host: Host) -> bool:
    """Whether jobs of this session or its project are there to be run."""
    around, start = host.around, host.base.start
    if start.forked_from:  # they stay with the session that they were made in
        return False
    if any(isinstance(each.event, JobChanged) for each in start.stored):
        return True
    if around.trusted and (around.where.root / FOLDER / "HEARTBEAT.md").exists():
        return True
    name = project_folder(Path(), around.where.root).name
    return (around.places.state / "schedules" / f"{name}.json").exists()


async def plug_autonomy(host: Host) -> Contribution:
    if (bound := host.around.own_env.get(UNATTENDED)) is not None:
        host.policy.view(MAIN).most = modes.canonical(bound) or "default"
    if not host.around.options.has_screen:
        return Contribution()
    autonomy = Autonomy(host)
    if autonomy.on and something_stored(host):
        autonomy.opened().restore()
    return Contribution(
        sources=(autonomy,),
        commands=(always(*autonomy.commands()),),
        folds=(autonomy.saw,),
        parts=(autonomy,),
        close=(autonomy.close,),
    )


def wanted(around: Surroundings) -> bool:
    """Where a session stays open: print mode ends with its answer. A run by itself is bounded."""
    if around.options.served:
        return False
    return around.options.has_screen or UNATTENDED in around.own_env


AUTONOMY = Extension(name="autonomy", plug=plug_autonomy, wanted=wanted)
