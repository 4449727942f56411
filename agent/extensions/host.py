"""What an extension may use of the session it plugs into, and what an extension is.

A system is a folder of its own and one line in `listed.py`. Nothing of it is imported by a session
that does not want it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.client.brought import NOTHING, Brought
from gatewright.agent.context.briefing import Briefing
from gatewright.agent.context.file_changes import FileChanges
from gatewright.agent.context.tool_sources import ToolSources
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.contribution import Contribution, Root
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.events import AnyEvent
from gatewright.agent.record.journal import Journal
from gatewright.agent.session.start.base import Base
from gatewright.agent.session.writers import Barriers
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.turn.listeners import Listeners
from gatewright.permissions.policy import Policy
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Asker, Ledger

if TYPE_CHECKING:
    from gatewright.agent.session.session import Session  # it is put together from this
    from gatewright.tools.moments import Moments


class Alone(msgspec.Struct, frozen=True):
    """Who hears of a call and is asked about it, in place of all others."""

    moments: Moments | None
    ask: Asker


class Host:
    """What an extension may use. What needs the running session waits for `join`."""

    def __init__(
        self,
        base: Base,
        live: LiveSettings,
        policy: Policy,
        briefing: Briefing,
        ledger: Ledger,
        client: Brought = NOTHING,
    ) -> None:
        self.base, self.live, self.policy = base, live, policy
        self.begins = base.around.where  # where the main agent begins: a work tree may be its own
        self.client = client  # what it brought that opened the session
        self.kind: AgentKind | None = None  # the type of agent that the session itself is
        self.briefing = briefing  # what the model of the main agent is told first
        self.ledger = ledger  # which files that model has seen
        self.listeners = Listeners()  # at the moments of the session
        self.barriers = Barriers()
        self.changes = FileChanges()  # by agents
        self.exports: dict[str, str] = {}  # variables that commands find besides their own
        self.path_end: tuple[str, ...] = ()  # where commands look for programs last of all
        self.brought: list[Contribution] = []  # by all that plugged in so far
        self.roots: list[Root] = []  # of those
        self.tools = ToolSources(())  # all of the session, once it is put together
        self.small_model: Callable[[], OpenModel] = _too_early
        self.open_model: Callable[[str, str], OpenModel] = _no_model_yet  # by name and effort
        # Of whoever runs other agents: whether the person waits for one, and that it asks them.
        self.awaited: Callable[[str], bool] = is_main
        self.asks: Callable[[str, bool], object] = _nobody_minds
        self._session: Session | None = None
        self.joined = asyncio.Event()  # set once the session runs

    @property
    def moments(self) -> Moments | None:
        """All who listen, as of now."""
        return self.listeners.now

    @property
    def around(self) -> Surroundings:
        """Machine, settings and command line as they are now."""
        return self.live.around

    @property
    def env(self) -> Mapping[str, str]:
        return self.live.around.env

    @property
    def journal(self) -> Journal:
        return self.base.journal

    @property
    def session(self) -> Session:
        """The session, once it runs. Raises SessionError while it is being put together."""
        if self._session is None:
            raise SessionError("The session has not begun yet.")
        return self._session

    def take(self, contribution: Contribution) -> None:
        """What it brings that needs no running session."""
        self.brought.append(contribution)
        self.roots += contribution.roots
        self.listeners.add(contribution.moments)
        self.tools.add(*contribution.sources)
        self.briefing.sections += contribution.prompt

    def join(self, session: Session) -> None:
        self._session = session
        self.joined.set()

    def brings_name(self, name: str) -> bool:
        """Whether a name behind @ is somebody's own, and no file's."""
        return any(each.claims(name) for each in self.brought if each.claims is not None)

    def remains(self) -> list[str]:
        """What extensions put back beside a summary."""
        return [text for each in self.brought if each.remains for text in each.remains()]

    def publish(self, event: AnyEvent) -> None:
        self.base.journal.publish(event)

    def warn(self, text: str) -> None:
        self.base.warn(text)


def always(around: Surroundings) -> bool:
    """For what every session has."""
    del around
    return True


class Extension(msgspec.Struct, frozen=True, kw_only=True):
    """One system. `wanted` costs settings and a few stats, imports nothing, and is asked again.

    A session does not begin without a `needed` one, which every session wants: what it does keeps
    the person safe.
    """

    name: str
    plug: Callable[[Host], Awaitable[Contribution]]
    wanted: Callable[[Surroundings], bool] = always
    needed: bool = False

    def __post_init__(self) -> None:
        if self.needed and self.wanted is not always:
            raise ValueError(f"{self.name} cannot be needed and come later")


def is_main(agent: str) -> bool:
    return agent == MAIN


def _nobody_minds(agent: str, waiting: bool) -> None:
    del agent, waiting


def _too_early() -> OpenModel:
    raise SessionError("The session has not begun yet.")


def _no_model_yet(name: str, effort: str) -> OpenModel:
    del name, effort
    return _too_early()
