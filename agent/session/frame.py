"""What a session needs to run turns. Whatever else it has is brought by extensions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from gatewright.agent.commands.registry import Modes, RuleBook
from gatewright.agent.compact.state import nothing
from gatewright.agent.errors import ProviderError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.agent_costs import AgentCosts
from gatewright.agent.record.clock import Clock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import Noticed
from gatewright.agent.record.journal import Journal
from gatewright.agent.record.spending import Spending
from gatewright.agent.session.agent import CallPorts
from gatewright.agent.session.children import ChildPorts
from gatewright.agent.session.scopes import ScopedRules
from gatewright.agent.text.redact import Redactor
from gatewright.agent.transcript.writer import TranscriptWriter
from gatewright.agent.turn.budget import Budget
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.listeners import Listeners
from gatewright.tools.access import Where
from gatewright.tools.interact import Weighed
from gatewright.tools.protocol import Asker, Executor, Ledger, ToolContext

if TYPE_CHECKING:
    from gatewright.tools.moments import Moments


class SessionRules(RuleBook, ScopedRules, Protocol):
    """The gate's rules as the session changes them."""

    def weigh(self, call_id: str, rules: Sequence[str]) -> Weighed:
        """What storing these would do for a call that is asked about."""
        ...


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    where: Where
    journal: Journal
    talk: Conversation
    clock: Clock
    modes: Modes
    rules: SessionRules
    executor: Executor
    context: Callable[[CallPorts], ToolContext]
    ledger: Ledger
    children: ChildPorts
    open_model: Callable[[str, str], OpenModel]  # name, effort; raises GatewrightError
    model_name: str
    retry_in: Callable[[ProviderError, int], float | None]
    attempts: int
    barrier: Callable[[], Awaitable[None]]
    limits: Limits = Limits()
    interactive: bool = False  # somebody can be asked
    fallback_names: tuple[str, ...] = ()
    effort: str = ""  # that was chosen when it ran before
    opening: Callable[[Asker], Awaitable[None]] | None = None  # awaited before the first turn
    writer: TranscriptWriter | None = None
    begins: Literal["startup", "resume", "clear", "fork"] = "startup"
    stored: int = 0  # the last sequence number the writer need not write
    spending: Spending = msgspec.field(default_factory=Spending)  # with what is stored
    costs: AgentCosts = msgspec.field(default_factory=AgentCosts)  # of agents below the main one
    remains: Callable[[int], Awaitable[Sequence[str]]] = nothing  # what a summary is joined by
    auto_compact: bool = True
    redactor: Redactor = Redactor({})
    listeners: Listeners = msgspec.field(default_factory=Listeners)
    refresh: Callable[[], object] = lambda: None  # what changed in settings counts from now on
    folder: Path | None = None  # where this directory's sessions are

    def budget(self) -> Budget:
        """What the session may cost in this process, all of its agents together."""
        return Budget(
            self.limits.cost,
            lambda: self.spending.since_start + self.costs.since_start,
            "this session",
            lambda told: self.journal.publish(Noticed(text=told, tone="warning")),
        )

    async def keep(self) -> None:
        """Somebody knows it by its id: what was chosen so far is on disk when this returns."""
        if self.writer is not None:
            await self.writer.keep()

    @property
    def transcript(self) -> Path | None:
        """Where it is stored; None where it is not."""
        return self.writer.path if self.writer is not None else None

    @property
    def moments(self) -> Moments | None:
        """Who may speak at the points of a session, as of now."""
        return self.listeners.now
