"""What a session has used: tokens and dollars, in all and for its newest turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from gatewright.agent.record.agent_costs import AgentCosts
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    AttemptPaid,
    Cleared,
    Compacted,
    Noticed,
    Rewound,
    TurnEnded,
    UsageChanged,
)
from gatewright.agent.record.events_of_agents import AgentCost
from gatewright.agent.record.messages import Usage
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Block, Table, Text

SHOWN_TURNS = 20
SHOWN_AGENTS = 20
SHOWN_REMARKS = 5
REST = "taken back, summaries, earlier"
LEAST = 0.00005  # dollars that a row shows
HEADERS = ("", "cached", "written", "uncached", "output", "cost")


class TurnCost(msgspec.Struct, frozen=True):
    number: int
    usage: Usage
    cost: float
    requests: int


class Spending:
    """Fed with the main agent's events, stored ones first."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.cost = 0.0
        self.restored = 0.0  # dollars spent before this process
        self.answers = 0  # of this process
        self._context = 0
        self._count = 0
        self._beside: dict[str, tuple[Usage, float]] = {}  # by who asked beside the conversation
        self._remarks: deque[str] = deque(maxlen=SHOWN_REMARKS)
        self._turns: deque[TurnCost] = deque(maxlen=SHOWN_TURNS)

    @property
    def since_start(self) -> float:
        return self.cost - self.restored

    def apply(self, event: AnyEvent) -> None:
        match event:
            case AssistantMessage():
                self.answered(event)
            case AttemptPaid(usage=usage, cost=cost, by=by):
                self.usage = self.usage.plus(usage)
                self.cost += cost
                if by:
                    before, paid = self._beside.get(by, (Usage(), 0.0))
                    self._beside[by] = before.plus(usage), paid + cost
            case Compacted():
                self.usage = self.usage.plus(event.usage)
                self.cost += event.cost
                self._context = event.tokens_after
            case TurnEnded():
                self.ended(event)
            case Noticed(text=text, brief=brief) if brief:
                self._remarks.append(f"Turn {self._count + 1}: {text}")
            case Rewound() | Cleared():
                self._context = 0  # until the next answer says
            case _:
                pass

    def restore(self, events: Iterable[AnyEvent]) -> None:
        """Go on from a stored session, which may begin at a boundary or a new branch."""
        for event in events:
            if isinstance(event, Compacted | Cleared | Rewound):
                carried = event.carried
                self.usage, self.cost, self._count = carried.usage, carried.cost, carried.turns
            self.apply(event)
        self.restore_done()

    def answered(self, event: AssistantMessage) -> None:
        self.usage = self.usage.plus(event.usage)
        self.cost += event.cost
        self.answers += 1
        self._context = event.usage.context

    def ended(self, event: TurnEnded) -> None:
        self._count += 1
        self._turns.append(TurnCost(self._count, event.usage, event.cost, event.requests))

    def restore_done(self) -> None:
        self.restored = self.cost
        self.answers = 0

    def changed(self, window: int) -> UsageChanged:
        return UsageChanged(usage=self.usage, cost=self.cost, context=self._context, window=window)

    def table(self, agents: AgentCosts) -> Sequence[Block]:
        """Turns of the main agent, each kind of agent, all; then the costliest agents by name."""
        if not self._count and not self.cost:
            return (Text("Nothing was asked yet."),)
        rows = [_row(f"turn {turn.number}", turn.usage, turn.cost) for turn in self._turns]
        rows += [_row(name, *used) for name, used in self._beside.items()]
        rows += [_row(REST, *rest) for rest in self._rest()]
        kinds = agents.kinds()
        rows += [_row(f"{one.kind} ({one.count})", one.usage, one.cost) for one in kinds]
        rows.append(_row("session", self.usage.plus(agents.usage), self.cost + agents.cost))
        blocks: list[Block] = [Table(HEADERS, tuple(rows))]
        known = [one for one in agents.all if one.path.startswith(MAIN)]
        dearest = sorted(known, key=lambda one: (-one.cost, -one.usage.context))[:SHOWN_AGENTS]
        if dearest:
            each = [
                _row(f"{one.kind}: {one.label or _id(one)}", one.usage, one.cost) for one in dearest
            ]
            blocks.append(Table(("agent", *HEADERS[1:]), tuple(each)))
        if self._remarks:
            blocks.append(Text("\n".join(self._remarks), "dim"))
        return tuple(blocks)

    def _rest(self) -> Iterator[tuple[Usage, float]]:
        """What no other row has: turns that were taken back or are long ago, summaries."""
        turns = ((turn.usage, turn.cost) for turn in self._turns)
        usage, cost = self.usage, self.cost
        for used, paid in (*turns, *self._beside.values()):
            usage, cost = usage.less(used), cost - paid
        if usage != Usage() or cost > LEAST:
            yield usage, max(0.0, cost)


def _id(one: AgentCost) -> str:
    return one.path.rpartition("/")[2]


def _row(name: str, usage: Usage, cost: float) -> tuple[str, ...]:
    from gatewright.agent.text.money import dollars  # noqa: PLC0415  where it is shown

    counts = (usage.cache_read, usage.cache_write, usage.input, usage.output)
    return (name, *(f"{count:,}" for count in counts), dollars(cost))
