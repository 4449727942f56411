"""What the screen knows of the agents that others started: a row each, folded from their events.

Data and pure functions only; which rows are seen, and in which order, is in `shown.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from gatewright.agent.record import events as ev
from gatewright.agent.record.events_of_agents import ASKS
from gatewright.tui.transcript.items import AgentBlock

AgentState: TypeAlias = Literal[
    "running", "waiting", "done", "failed", "stopped", "interrupted", "budget spent"
]
LIVING = ("running", "waiting")
KEPT = 240  # rows; more agents than a session may start
TASK = 200  # characters of a task
ENDS: Mapping[str, AgentState] = {
    "completed": "done",
    "stopped": "stopped",
    "interrupted": "interrupted",
    "budget_exhausted": "budget spent",
}


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    """An agent at one moment; `over` once its end was told, `block` its record above."""

    path: str
    kind: str = ""
    name: str = ""
    task: str = ""
    background: bool = False
    state: AgentState = "running"
    doing: str = ""
    since: float = 0.0
    ended: float = 0.0
    tools: int = 0
    tokens: int = 0
    cost: float = 0.0
    over: bool = False
    call: str = ""
    block: AgentBlock | None = None
    read: bool = False  # the person wrote something since it ended
    asks: bool = False  # it waits for the person, perhaps behind others
    asks_since: float = 0.0
    until: float = 0.0  # the server wants its request then
    worked: float = 0.0  # seconds without what the person took to answer, told at `told`
    told: float = 0.0
    still: bool = False  # the person is asked, by it or by one that it waits for

    @property
    def label(self) -> str:
        """What people call it: its name where it has one."""
        return self.name or self.kind or self.path.rpartition("/")[2]

    @property
    def lives(self) -> bool:
        return self.state in LIVING

    @property
    def depth(self) -> int:
        """How many agents are above it, besides the one the person talks to."""
        return max(0, self.path.count("/") - 1)

    def seconds(self, now: float) -> float:
        """How long it works or worked, without what the person took to answer."""
        if not self.told:
            return max(0.0, (self.ended or now) - self.since) if self.since else 0.0
        return self.worked + (0.0 if self.still else max(0.0, (self.ended or now) - self.told))


Agents: TypeAlias = Mapping[str, AgentRow]


def started(before: AgentRow | None, event: ev.AgentStarted, at: float) -> AgentRow:
    """A new one, or one that goes on: what it used before stays in its sums."""
    task = event.description or event.prompt.strip().partition("\n")[0]
    row = AgentRow(
        path=event.child,
        kind=event.kind,
        name=event.name,
        task=task[:TASK],
        background=event.background,
        since=at,
        call=event.call_id,
    )
    if before is None:
        return row
    return replace(
        row, tokens=before.tokens, cost=before.cost, name=row.name or before.name, task=row.task
    )


def progressed(row: AgentRow, event: ev.AgentProgressed, at: float) -> AgentRow:
    """The sums only grow: what is told late changes nothing back."""
    if row.over:
        return row
    asks = event.phase == "waiting" and event.state == ASKS
    return replace(
        row,
        state="running" if event.phase == "running" else "waiting",
        doing="" if event.state == event.phase else f"{event.state} {event.target}".strip(),
        background=event.background or row.background,
        asks=asks,
        until=at + event.wait if event.wait else 0.0,
        asks_since=(row.asks_since or at) if asks else 0.0,
        tools=max(row.tools, event.tools),
        tokens=max(row.tokens, event.tokens),
        cost=max(row.cost, event.cost),
        ended=0.0,
        worked=event.seconds,
        told=at if event.seconds or event.still else 0.0,
        still=event.still,
    )


def finished(row: AgentRow, event: ev.AgentFinished, at: float) -> AgentRow:
    used = event.usage
    tokens = used.input + used.output + used.cache_read + used.cache_write
    return replace(
        row,
        state=_ended(event),
        name=event.name or row.name,
        doing=event.why,
        tools=event.tools or row.tools,
        tokens=tokens or row.tokens,
        cost=event.cost or row.cost,
        ended=at,
        worked=worked_ms(event) / 1000,
        told=at if event.ms else 0.0,
        still=False,
        over=True,
        asks=False,
        read=False,
    )


def worked_ms(event: ev.AgentFinished) -> int:
    """That it worked, without what the person took to answer."""
    return max(0, event.ms - event.waited)


def _ended(event: ev.AgentFinished) -> AgentState:
    if event.status == "completed" and not event.ok:
        return "failed"
    return ENDS.get(event.status, "failed")


def with_row(agents: Agents, row: AgentRow) -> Agents:
    """The rows with this one; the oldest that ended go once there are too many."""
    fresh = {**agents, row.path: row}
    if len(fresh) > KEPT:
        ended = [path for path, each in fresh.items() if not each.lives and path != row.path]
        for path in ended[: len(fresh) - KEPT]:
            del fresh[path]
    return fresh


def broken_off(agents: Agents, *, all: bool) -> Agents:
    """No turn runs: what belonged to one and never told its end has none any more."""
    return {
        path: replace(row, state="interrupted", doing="", ended=row.ended or row.since)
        if row.lives and (all or not row.background)
        else row
        for path, row in agents.items()
    }
