"""Plugs teams in: off unless `--team` or the setting says so; nothing is loaded then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gatewright.agent.context.announcements import Announcement
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import Envelope
from gatewright.tools.protocol import Tool, ToolSpec
from gatewright.tools.registry import BuiltinTools

if TYPE_CHECKING:
    from gatewright.agent.extensions.teams.team_session import TeamSession

TASKS = ("TaskCreate", "TaskUpdate", "TaskList", "TaskGet")


class Teams:
    """A source of tools; `session` is None before a team is begun, or gone on with."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._tasks = BuiltinTools(TASKS)
        self.session: TeamSession | None = None

    @property
    def on(self) -> bool:
        around = self._host.around
        return around.options.team or around.settings.agents.teams

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        options = self._host.around.options
        if not self.on or options.served:
            return ()
        from gatewright.agent.teams.tools import SPECS  # noqa: PLC0415  lazy: 1 ms

        found = (*SPECS, *self._tasks.specs(short=short))
        return tuple(s for s in found if options.tools is None or s.name in options.tools)

    def find(self, name: str) -> Tool[Any] | None:
        if name in ("TeamCreate", "TeamDelete"):
            from gatewright.agent.teams.tools import CREATE, TeamCreate, TeamDelete  # noqa: PLC0415  lazy: 1 ms

            return TeamCreate(self) if name == CREATE else TeamDelete(self)
        return self._tasks.find(name) if self.on else None

    def opened(self) -> TeamSession:
        if self.session is None:
            from gatewright.agent.extensions.teams.team_session import TeamSession  # noqa: PLC0415  lazy: 10 ms

            self.session = TeamSession(self._host)
        return self.session

    async def create(self, name: str, description: str) -> str:
        return await self.opened().create(name, description)

    async def delete(self) -> str:
        return await self.opened().delete()

    def announced(self) -> Announcement:
        text = self.session.about() if self.session is not None else ""
        return Announcement("Your team", text)

    def saw(self, envelope: Envelope) -> None:
        if self.session is not None:
            self.session.saw(envelope)

    async def close(self) -> None:
        if self.session is not None:
            await self.session.close()


async def plug_teams(host: Host) -> Contribution:
    teams = Teams(host)
    if teams.on and host.base.start.begins == "resume":
        await teams.opened().go_on()
    return Contribution(
        sources=(teams,),
        announcements=(teams.announced,),
        folds=(teams.saw,),
        parts=(teams,),
        close=(teams.close,),
    )


TEAMS = Extension(name="teams", plug=plug_teams)
