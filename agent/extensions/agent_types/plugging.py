"""Plugs types of agents in: those that definitions say, told to the model as they come and go.

Nothing is read before somebody asks which there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gatewright.agent.agents.definitions.agents_command import agent_commands
from gatewright.agent.agents.definitions.listing import changes
from gatewright.agent.agents.definitions.places import AGENTS
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.context.announcements import Announcement
from gatewright.agent.extensions.agent_types.session_kinds import kinds_of
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import AnyEvent, Cleared
from gatewright.agent.record.journal import of_main
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.counted import counted
from gatewright.tools.system.project import FOLDER

SUBJECT = "types of agents"


class AgentTypes:
    """What a session has of definitions. `book` is also whom `Agent` asks."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.book, self._given = kinds_of(host)
        self._first: Sequence[AgentKind] | None = None  # as the array of tools has them
        self._told: frozenset[str] = frozenset()  # problems that the person was told

    @property
    def folder(self) -> Path:
        """Where a new definition of the project is kept."""
        return self._host.around.where.root / FOLDER / AGENTS

    def bring(self, agents: Mapping[str, object]) -> None:
        """What a client says later than at the start, in place of what it said."""
        self._given.bring(agents)

    def offered(self) -> Sequence[AgentKind]:
        """For the array of tools: what changes after it is told besides."""
        now = self.book.offered()
        if self._first is None:
            self._first = now
        self._warn()
        return now

    def words(self) -> Announcement:
        if self._first is None:
            return Announcement(SUBJECT, "")
        now = self.book.offered()
        self._warn()
        return Announcement(SUBJECT, changes(self._first, now))

    def saw(self, event: AnyEvent) -> None:
        """The array of tools is made anew after a clear."""
        if isinstance(event, Cleared):
            self._first = None

    def _warn(self) -> None:
        """What is new and wrong; once."""
        problems = self.book.problems()
        new = [problem for problem in problems if problem not in self._told]
        self._told |= frozenset(new)
        if len(new) == 1:
            self._host.warn(new[0])
        elif new:
            count = counted(len(new), "problem")
            self._host.warn(f"Definitions of agents have {count}; /agents lists them. {new[0]}")


async def plug_types(host: Host) -> Contribution:
    types = AgentTypes(host)
    return Contribution(
        commands=(lambda: agent_commands(types),),
        announcements=(types.words,),
        folds=(of_main(types.saw),),
        parts=(types,),
    )


def wanted(around: Surroundings) -> bool:
    """Not where no turn is ever run."""
    return not around.options.served


AGENT_TYPES = Extension(name="types of agents", plug=plug_types, wanted=wanted)
