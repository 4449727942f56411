"""Plugs types of agents in: those that definitions say, told to the model as they come and go.

Nothing is read before somebody asks which there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.agents.definitions.listing import changes
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.commands.registry import Command, TaskRow
from gatewright.agent.context.announcements import Announcement
from gatewright.agent.extensions.agent_types.brings import AgentBrings
from gatewright.agent.extensions.agent_types.session_kinds import kinds_of
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import AnyEvent, AssistantMessage, Cleared
from gatewright.agent.record.journal import of_main
from gatewright.agent.settings.paths import AGENTS
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.access import MAIN
from gatewright.tools.counted import counted
from gatewright.tools.system.project import FOLDER

SUBJECT = "types of agents"


class AgentTypes:
    """What a session has of definitions. `book` is also whom `Agent` asks."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.book, self._given = kinds_of(host)
        self.brings = AgentBrings(host)
        self._first: Sequence[AgentKind] = ()  # as the array of tools has them
        self._sent = False  # that array
        self._told: frozenset[str] = frozenset()  # problems that the person was told

    @property
    def folder(self) -> Path:
        """Where a new definition of the project is kept."""
        return self._host.around.where.root / FOLDER / AGENTS

    def at_work(self) -> Sequence[TaskRow]:
        rows = self._host.session.jobs_of(MAIN).all.rows()
        return [row for row in rows if row.running and row.agent]

    def bring(self, agents: Mapping[str, object]) -> None:
        """What a client says later than at the start, in place of what it said."""
        self._given.bring(agents)

    def offered(self) -> Sequence[AgentKind]:
        """For the array of tools: what changes after it is told besides."""
        now = self.book.offered()
        if not self._sent:
            self._first = now
        self._warn()
        return now

    def words(self) -> Announcement:
        if not self._sent:
            return Announcement(SUBJECT, "")
        now = self.book.offered()
        self._warn()
        main = self._host.session.agent(MAIN)
        model = main.models.current if main is not None else None
        window = model.window if model is not None else 0
        return Announcement(SUBJECT, changes(self._first, now, window))

    def saw(self, event: AnyEvent) -> None:
        """The array of tools is made for the first request, and anew after a clear."""
        if isinstance(event, AssistantMessage | Cleared):
            self._sent = isinstance(event, AssistantMessage)

    def _warn(self) -> None:
        """What is new and wrong as of the last look; once."""
        problems = self.book.last_problems()
        new = [problem for problem in problems if problem not in self._told]
        self._told |= frozenset(new)
        if len(new) == 1:
            self._host.warn(new[0])
        elif new:
            count = counted(len(new), "problem")
            self._host.warn(f"Definitions of agents have {count}; /agents lists them. {new[0]}")


async def plug_types(host: Host) -> Contribution:
    types, remembered = AgentTypes(host), ""
    if host.kind is not None:  # its servers are among the session's
        await types.brings.begin(MAIN, replace(host.kind, inline_servers={}))
        remembered = types.brings.prompt(host.kind)

    def commands() -> Sequence[Command]:
        from gatewright.agent.agents.definitions.agents_command import agent_commands  # noqa: PLC0415  lazy: 2 ms

        return agent_commands(types)

    return Contribution(
        sources=(types.brings,),
        commands=(commands,),
        announcements=(types.words,),
        folds=(of_main(types.saw),),
        prompt=(lambda: remembered,) if remembered else (),
        parts=(types,),
        close=(types.brings.close,),
    )


def wanted(around: Surroundings) -> bool:
    """Not where no turn is ever run."""
    return not around.options.served


AGENT_TYPES = Extension(name="types of agents", plug=plug_types, wanted=wanted)
