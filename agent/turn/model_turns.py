"""An agent's turns over its own model: our loop, with stand-ins, retries and room in the window."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.compact.compactor import Compactor
from gatewright.agent.errors import ProviderError
from gatewright.agent.models.in_use import Models
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.spending import Spending
from gatewright.agent.turn.answers import AnswerPorts
from gatewright.agent.turn.cache_watch import CacheWatch
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.loop import Ports, run_turn
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.turns import Ground, Turn
from gatewright.tools.protocol import Asker

if TYPE_CHECKING:
    from gatewright.tools.moments import Moments, Verdict


class ModelPorts(msgspec.Struct, frozen=True, kw_only=True):
    """What our loop needs of its agent besides the ground of all turns."""

    moments: Callable[[], Moments | None]  # who may speak, as of now
    attempts: int
    models: Models
    needed: Callable[[], Awaitable[OpenModel]]  # raises GatewrightError
    spending: Spending
    limits: Callable[[], Limits]  # of the next turn
    compactor: Compactor
    retry_in: Callable[[ProviderError, int], float | None]
    ask: Callable[[], Asker | None]  # None: nobody is there to be asked
    advise: Callable[[Verdict], None]  # what others want the model to know


class ModelTurns:
    """Implements `Turns`."""

    def __init__(self, ground: Ground, ports: ModelPorts) -> None:
        self._ground, self._ports_of = ground, ports
        self._cache = CacheWatch()

    async def ready(self) -> Turn:
        return partial(self._run, await self._ports_of.needed())

    async def close(self) -> None:
        """Whoever opened the model closes it."""

    async def _run(self, model: OpenModel) -> Stop:
        try:
            return await run_turn(self._ports(model), self._ground.talk)
        finally:
            await self._ports_of.models.settle()

    async def _stand_in(
        self, fallbacks: Callable[[], OpenModel | None], before: str
    ) -> OpenModel | None:
        """The next model in order that nobody who listens refuses."""
        ports, agent = self._ports_of, self._ground.agent
        while (other := fallbacks()) is not None:
            if (moments := ports.moments()) is None:
                return other
            from gatewright.tools.moments import ModelChange  # noqa: PLC0415  only where somebody listens

            change = ModelChange(agent=agent, before=before, after=other.name, reason="fallback")
            verdict = await moments.at(change)
            if verdict.word not in ("deny", "stop"):
                ports.advise(verdict)
                return other
        return None

    def _ports(self, model: OpenModel) -> Ports:
        ground, ports = self._ground, self._ports_of
        models = ports.models
        answers = AnswerPorts(
            model=model,
            stand_in=partial(self._stand_in, models.fallbacks()),
            following=models.following,
            make_room=ports.compactor.make_room,
            compact=ports.compactor.rescue,
            retry_in=ports.retry_in,
            attempts=ports.attempts,
            barrier=ground.barrier,
            emit=ground.emit,
            clock=ground.clock,
            cache=self._cache,
            patient=ports.spending.answers > 0,
            silence=ground.limits.silence,
            patience=ground.limits.patience,
            agent=ground.agent,
        )
        return Ports(
            answers=answers,
            tools=ground.tools(),
            inputs=ground.inputs,
            limits=ports.limits(),
            ask=ports.ask(),
            budgets=ground.budgets,
            moments=ports.moments(),
            agent=ground.agent,
        )
