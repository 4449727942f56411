"""What a session is put together from, and what it gives each running call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from gatewright.agent.commands.registry import Commands, Modes, RuleBook
from gatewright.agent.errors import ProviderError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.clock import Clock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.hub import Hub
from gatewright.agent.record.spending import Spending
from gatewright.agent.session.beside import Beside
from gatewright.agent.transcript.writer import TranscriptWriter
from gatewright.agent.turn.loop import Limits
from gatewright.tools.access import Where
from gatewright.tools.protocol import Asker, Executor, Jobs, Progress, ToolContext


class CallPorts(msgspec.Struct, frozen=True, kw_only=True):
    """What the session itself gives a running call; the rest of its context is composed outside."""

    where: Where
    ask: Asker
    progress: Callable[[Progress], None]
    move: Callable[[Path], None]
    jobs: Jobs


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What the composition root puts together."""

    id: str
    where: Where
    hub: Hub
    talk: Conversation
    clock: Clock
    modes: Modes
    rules: RuleBook
    commands: Commands
    executor: Executor
    context: Callable[[CallPorts], ToolContext]
    open_model: Callable[[str, str], OpenModel]  # name, effort; raises GatewrightError
    model_name: str
    retry_in: Callable[[ProviderError, int], float | None]
    attempts: int
    barrier: Callable[[], Awaitable[None]]
    limits: Limits = Limits()
    interactive: bool = False  # somebody can be asked
    fallback_names: tuple[str, ...] = ()
    opening: Callable[[Asker], Awaitable[None]] | None = None  # awaited before the first turn
    writer: TranscriptWriter | None = None
    beside: Beside = Beside()
    stored: int = 0  # the last sequence number the writer need not write
    spending: Spending = msgspec.field(default_factory=Spending)  # with what is stored
