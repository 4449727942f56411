"""What an extension may use of the session it plugs into, and what an extension is.

A system is a folder of its own and one line in `listed.py`. Nothing of it is imported by a session
that does not want it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Protocol

import msgspec

from gatewright.agent.client.brought import NOTHING, Brought
from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import Commands
from gatewright.agent.context.briefing import Briefing
from gatewright.agent.context.tool_sources import ToolSources
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.contribution import Contribution, Root
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.events import AnyEvent
from gatewright.agent.record.journal import Journal
from gatewright.agent.session.inbox import InputSource
from gatewright.agent.session.start.base import Base
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.turn.listeners import Listeners
from gatewright.permissions.policy import Policy
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import Jobs, Ledger, ToolCall, ToolResult

if TYPE_CHECKING:
    from gatewright.agent.session.children import AgentRun, AgentSpec
    from gatewright.tools.moments import Moments


class SessionSide(Protocol):
    """What a session that runs does for who plugs into it."""

    async def ask(self, ask: Ask, agent: str = MAIN) -> Answer: ...
    @property
    def commands(self) -> Commands: ...
    @property
    def mode(self) -> str: ...
    @property
    def busy(self) -> bool: ...
    def set_mode(self, name: str) -> str:
        """Raises ValueError naming the valid ones."""
        ...

    def tell(
        self, text: str, *, agent: str = MAIN, wakes: bool = True, source: InputSource = "program"
    ) -> None:
        """A text for the model of that agent, and whose words it is."""
        ...

    async def run_command(self, line: str) -> Outcome: ...
    def interrupt(self) -> bool: ...

    def spawn(self, spec: AgentSpec) -> AgentRun: ...
    def jobs_of(self, agent: str) -> Jobs: ...
    async def call(self, call: ToolCall, agent: str = MAIN) -> ToolResult:
        """Through the gate, like a call of the model."""
        ...


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
        self.client = client  # what it brought that opened the session
        self.briefing = briefing  # what the model of the main agent is told first
        self.ledger = ledger  # which files that model has seen
        self.listeners = Listeners()  # at the moments of the session
        self.exports: dict[str, str] = {}  # variables that commands find besides their own
        self.roots: list[Root] = []  # of those that were opened before
        self.tools = ToolSources(())  # all of the session, once it is put together
        self.small_model: Callable[[], OpenModel] = _too_early
        self.open_model: Callable[[str, str], OpenModel] = _no_model_yet  # by name and effort
        self._session: SessionSide | None = None

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
    def session(self) -> SessionSide:
        """The session, once it runs. Raises SessionError while it is being put together."""
        if self._session is None:
            raise SessionError("The session has not begun yet.")
        return self._session

    def join(self, session: SessionSide) -> None:
        self._session = session

    def publish(self, event: AnyEvent) -> None:
        self.base.journal.publish(event)

    def warn(self, text: str) -> None:
        self.base.warn(text)


def always(around: Surroundings) -> bool:
    """For what every session has."""
    del around
    return True


class Extension(msgspec.Struct, frozen=True, kw_only=True):
    """One system. `wanted` costs settings and a few stats and imports nothing.

    A session does not begin without a `needed` one: what it does keeps the person safe.
    """

    name: str
    plug: Callable[[Host], Awaitable[Contribution]]
    wanted: Callable[[Surroundings], bool] = always
    needed: bool = False


def _too_early() -> OpenModel:
    raise SessionError("The session has not begun yet.")


def _no_model_yet(name: str, effort: str) -> OpenModel:
    del name, effort
    return _too_early()
