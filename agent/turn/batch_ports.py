"""What running calls may use; what runs them loads with the first call."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gatewright.agent.record.clock import Clock
from gatewright.agent.record.events import AnyEvent
from gatewright.tools.protocol import Executor, ToolContext


class BatchPorts(msgspec.Struct, frozen=True):
    executor: Executor
    context: Callable[[str], ToolContext]  # call id -> the ports of that call
    emit: Callable[[AnyEvent], None]
    clock: Clock
    waited: Callable[[str], float]  # seconds of a call that went into waiting for the person
