"""What the agents below the main one have used: each, by kind, and all together.

A fold over the events of all agents. What a start, an end or a boundary of the transcript says
restores it, so that the sums of a session outlive its process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gatewright.agent.record.events import (
    AgentFinished,
    AgentStarted,
    AnyEvent,
    AssistantMessage,
    AttemptPaid,
    Cleared,
    Compacted,
    Envelope,
    Rewound,
    WorkflowEnded,
)
from gatewright.agent.record.events_of_agents import AgentCost
from gatewright.agent.record.messages import Usage
from gatewright.tools.access import MAIN

KEPT = 400  # agents known one by one; older ones that have ended are kept by kind alone
WHOLE = "//"  # behind a run in the path of all that it used
PAID = (AssistantMessage, AttemptPaid, Compacted)  # what has a price
replace = msgspec.structs.replace


class AgentCosts:
    def __init__(self) -> None:
        self._agents: dict[str, AgentCost] = {}  # by path; what is kept by kind: by its name
        self._running: set[str] = set()
        self._ranks: dict[str, int] = {}  # of those that are known, by path
        self._joined: dict[str, str] = {}  # agents that are counted together: the path of the sum
        self._begun = 1
        self._restored = 0.0
        self.usage = Usage()
        self.cost = 0.0

    @classmethod
    def after(cls, events: Iterable[AnyEvent]) -> AgentCosts:
        """Of a stored session, as the file of its main agent tells it."""
        costs = cls()
        for event in events:
            if isinstance(event, Compacted | Cleared | Rewound):
                costs._began_anew(event.carried.agents)
            costs._told(event)
        costs._running.clear()
        costs._restored = costs.cost
        return costs

    @property
    def since_start(self) -> float:
        """Dollars of this process."""
        return self.cost - self._restored

    @property
    def all(self) -> Sequence[AgentCost]:
        return tuple(self._agents.values())

    def rank(self, path: str) -> int:
        """Which of the agents it was that began."""
        return self._ranks.get(path, 0)

    def join(self, path: str, sum: AgentCost) -> None:
        """Nobody is told of that agent: what it uses counts for a sum, which has its own path."""
        if path not in self._joined:
            self._joined[path] = sum.path
            self._ranks[path] = self._begun
            self._begun += 1
            known = self._agents.get(sum.path)
            self._agents[sum.path] = sum if known is None else replace(known, count=known.count + 1)

    def leave(self, path: str) -> None:
        """It has ended."""
        self._joined.pop(path, None)
        self._ranks.pop(path, None)

    def below(self, path: str) -> tuple[AgentCost, ...]:
        """Of those that this one started, and theirs."""
        return tuple(each for each in self._agents.values() if each.path.startswith(f"{path}/"))

    def kinds(self) -> Sequence[AgentCost]:
        """The sums of each kind, by name."""
        found: dict[str, AgentCost] = {}
        for each in self._agents.values():
            known = found.get(each.kind)
            found[each.kind] = each if known is None else _sum(known, each)
        return [replace(found[kind], path="", label="") for kind in sorted(found)]

    def saw(self, envelope: Envelope) -> None:
        event = envelope.event
        match event:
            case AgentStarted() | AgentFinished() | WorkflowEnded():
                self._told(event)
            case AssistantMessage() | AttemptPaid() | Compacted() if envelope.agent != MAIN:
                counted = self._joined.get(envelope.agent, envelope.agent)
                self._add(counted, event.usage, event.cost)
            case _:
                pass

    def stamped(self, event: AnyEvent, agent: str) -> AnyEvent:
        """The end of an agent, or a boundary of the main one, with what is known here."""
        match event:
            case AgentFinished(child=child) if (known := self._agents.get(child)) is not None:
                own = max(event.usage, known.usage, key=_tokens)
                cost = max(event.cost, known.cost)
                below = self.below(child) or event.below  # what a file says of it
                return replace(event, usage=own, cost=cost, below=below)
            case WorkflowEnded(run=run, costs=()):
                mine = (one for path, one in self._agents.items() if path.startswith(f"{run}/"))
                return replace(event, costs=tuple(mine))
            case Compacted() | Cleared() | Rewound() if agent == MAIN:
                return replace(event, carried=replace(event.carried, agents=tuple(self.all)))
            case _:
                return event

    def _told(self, event: AnyEvent) -> None:
        match event:
            case AgentStarted(child=child, kind=kind):
                self._running.add(child)
                self._ranks.setdefault(child, self._begun)
                self._begun += 1
                known = self._agents.get(child, AgentCost(path=child, kind=kind))
                label = event.name or event.description or known.label
                self._agents[child] = replace(known, kind=kind, label=label)
                self._forget_oldest()
            case AgentFinished(child=child):
                self._running.discard(child)
                known = self._agents.get(child, AgentCost(path=child))
                for each in (replace(known, usage=event.usage, cost=event.cost), *event.below):
                    self._at_least(each)
            case WorkflowEnded(costs=costs):
                for each in costs:
                    self._at_least(self._besides(each) if each.path.endswith(WHOLE) else each)
            case _:
                pass

    def _besides(self, whole: AgentCost) -> AgentCost:
        """What is not known yet of all that a run used, as its journal has it."""
        of_run = whole.path.removesuffix(WHOLE)
        for path, each in self._agents.items():
            if path.startswith(f"{of_run}/") and path != whole.path:
                cost = max(0.0, whole.cost - each.cost)
                whole = replace(whole, usage=_less(whole.usage, each.usage), cost=cost)
        return whole

    def _at_least(self, told: AgentCost) -> None:
        """What another process knew of it, or what was counted here if that is more."""
        known = self._agents.setdefault(told.path, replace(told, usage=Usage(), cost=0.0))
        if _tokens(told.usage) > _tokens(known.usage):
            self._add(told.path, _less(told.usage, known.usage), 0.0)
        if told.cost > known.cost:
            self._add(told.path, Usage(), told.cost - known.cost)

    def _add(self, path: str, usage: Usage, cost: float) -> None:
        known = self._agents.get(path, AgentCost(path=path))
        self._agents[path] = replace(known, usage=known.usage.plus(usage), cost=known.cost + cost)
        self.usage, self.cost = self.usage.plus(usage), self.cost + cost

    def _began_anew(self, carried: Sequence[AgentCost]) -> None:
        self._agents = {each.path: each for each in carried}
        self.usage, self.cost = Usage(), 0.0
        for each in carried:
            self.usage, self.cost = self.usage.plus(each.usage), self.cost + each.cost

    def _forget_oldest(self) -> None:
        if len(self._agents) <= KEPT:
            return
        for path, each in tuple(self._agents.items())[: KEPT // 4]:
            if path not in self._running and path.startswith(MAIN):
                del self._agents[path]
                self._ranks.pop(path, None)
                kept = replace(each, path=each.kind, label="")
                before = self._agents.get(each.kind)
                self._agents[each.kind] = kept if before is None else _sum(before, kept)


def _sum(one: AgentCost, other: AgentCost) -> AgentCost:
    usage, cost = one.usage.plus(other.usage), one.cost + other.cost
    return replace(one, usage=usage, cost=cost, count=one.count + other.count)


def _tokens(usage: Usage) -> int:
    return usage.context


def _less(one: Usage, other: Usage) -> Usage:
    left = (max(0, mine - its) for mine, its in zip(_counts(one), _counts(other), strict=True))
    return Usage(*left)


def _counts(usage: Usage) -> tuple[int, int, int, int]:
    return usage.input, usage.output, usage.cache_read, usage.cache_write
