"""Who runs an agent's turns: our loop over its model, or somebody else's over theirs.

What an agent is besides (inbox, transcript, calls through the gate, limits, report) is the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias

import msgspec

from gatewright.agent.record.clock import Clock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import AnyEvent
from gatewright.agent.turn.batch_ports import BatchPorts
from gatewright.agent.turn.budget import Limiting
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import Where

# Emits TurnStarted and exactly one TurnEnded; raises nothing but CancelledError.
Turn: TypeAlias = Callable[[], Awaitable[Stop]]


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent gives whoever runs its turns."""

    agent: str
    talk: Conversation
    emit: Callable[[AnyEvent], None]
    tools: Callable[[], BatchPorts]  # what its calls run with, through the gate
    inputs: Callable[[], Awaitable[bool]]  # takes up what was sent; whether there was any
    barrier: Callable[[], Awaitable[None]]
    where: Callable[[], Where]
    clock: Clock
    limits: Limits
    budgets: Sequence[Limiting]  # of the session, and of the agent itself


class Turns(Protocol):
    async def ready(self) -> Turn:
        """All that the next turn needs, then the turn. Raises GatewrightError: there is none."""
        ...

    async def close(self) -> None:
        """There is no turn any more: nothing that belongs to them is left."""
        ...


Elsewhere: TypeAlias = Callable[[Ground], Turns]
