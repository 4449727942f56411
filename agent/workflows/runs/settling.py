"""In which order a script hears how its calls ended: recorded results first, in their order.

So races end as they did. One settlement goes out at a time; the next when the script waits again.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from pathlib import Path

from gatewright.agent.errors import GatewrightError
from gatewright.agent.workflows.engine import wire
from gatewright.agent.workflows.runs.call import Call
from gatewright.agent.workflows.runs.journal import CallSettled, value_of
from gatewright.agent.workflows.runs.run_port import CallProblem, EnginePort, FindNested


async def inlined(message: wire.Nested, nested: FindNested) -> wire.Inlined | wire.Settled:
    """The script that one asks for within another, or why it cannot have it."""
    try:
        found = await nested(message)
    except CallProblem as problem:
        failure = wire.Failure(problem.kind, str(problem))
        return wire.Settled(message.id, ok=False, error=failure, throws=True)
    return wire.Inlined(message.id, found.body, found.meta.data, message.args)


class Settling:
    """`lost` gets a call whose recorded result cannot be read; `budget` is told with each."""

    def __init__(
        self,
        folder: Path,
        budget: Callable[[], wire.BudgetNow],
        lost: Callable[[Call, str], object],
        replayed: Callable[[Call], object],
    ) -> None:
        self._folder, self._budget = folder, budget
        self._lost, self._replayed = lost, replayed
        self._recorded: list[tuple[int, int, Call, CallSettled]] = []
        self._due: deque[wire.Settled | wire.Inlined] = deque()
        self.engine: EnginePort | None = None
        self.idle = False  # the script waits for a settlement
        self.over = False  # it hears nothing more

    def replay(self, order: int, call: Call, settled: CallSettled) -> None:
        heapq.heappush(self._recorded, (order, call.index, call, settled))

    def put(self, settled: wire.Settled | wire.Inlined) -> None:
        self._due.append(settled)

    async def deliver(self) -> None:
        """The next one, if the script waits and there is one."""
        if not self.idle or self.engine is None or self.over:
            return
        if (settled := self._next()) is not None:
            self.idle = False
            await self.engine.settle(settled)

    def _next(self) -> wire.Settled | wire.Inlined | None:
        while self._recorded:
            _, _, call, recorded = heapq.heappop(self._recorded)
            try:
                call.value = value_of(self._folder, recorded)
            except GatewrightError as error:
                self._lost(call, str(error))
                continue
            call.state, call.agent, call.worktree = "replayed", recorded.agent, recorded.worktree
            self._replayed(call)
            return call.settled(self._budget())
        return self._due.popleft() if self._due else None
