"""What a run has used of each model, by all agents, as results tell it."""

from __future__ import annotations

from gatewright.agent.frontends.sdk.shapes import Line
from gatewright.agent.record.events import AssistantMessage, AttemptPaid, Compacted, Envelope
from gatewright.agent.record.messages import Usage


class ModelSums:
    def __init__(self) -> None:
        self._models: dict[str, Line] = {}
        self._asked: dict[str, str] = {}  # the model that answered last, by agent
        self.cost = 0.0

    def saw(self, envelope: Envelope) -> None:
        event = envelope.event
        match event:
            case AssistantMessage(model=model) | AttemptPaid(model=model):
                self._asked[envelope.agent] = model
                self._add(model, event.usage, event.cost)
            case Compacted():
                self._add(self._asked.get(envelope.agent, ""), event.usage, event.cost)
            case _:
                pass

    def told(self) -> Line:
        """As it is now; what was told before stays what it was."""
        return {name: dict(sums) for name, sums in self._models.items()}

    def _add(self, model: str, usage: Usage, cost: float) -> None:
        self.cost += cost
        if not model or (usage == Usage() and not cost):
            return
        sums = self._models.setdefault(
            model,
            {
                "inputTokens": 0,
                "outputTokens": 0,
                "cacheReadInputTokens": 0,
                "cacheCreationInputTokens": 0,
                "webSearchRequests": 0,
                "costUSD": 0.0,
            },
        )
        sums["inputTokens"] += usage.input
        sums["outputTokens"] += usage.output
        sums["cacheReadInputTokens"] += usage.cache_read
        sums["cacheCreationInputTokens"] += usage.cache_write
        sums["costUSD"] += cost
