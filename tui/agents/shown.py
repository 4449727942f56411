"""Which agents are seen below the transcript, in which order: pure functions over their rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from gatewright.agent.record.events import AgentFinished, Envelope
from gatewright.tools.access import MAIN
from gatewright.tui.agents.known import AgentRow, Agents
from gatewright.tui.state import View
from gatewright.tui.workflows.fold import run_of

STAYS = 30.0  # seconds that one which ended stays
TO_READ = ("failed", "interrupted", "budget spent")  # they stay until the person has written since
_RANK = {
    "failed": 1, "interrupted": 1, "budget spent": 1, "running": 2, "waiting": 2, "done": 3,
    "stopped": 3,
}  # fmt: skip


def seen(agents: Agents, now: float) -> list[AgentRow]:
    """Those that live, and for a while those that ended; a failure until somebody has read it."""
    return [row for row in agents.values() if _stays(row, now)]


def _stays(row: AgentRow, now: float) -> bool:
    if row.lives:
        return True
    if not row.over:
        return False
    return now - row.ended < STAYS or (row.state in TO_READ and not row.read)


def expiry(agents: Agents, now: float) -> float:
    """Seconds until the next one goes by itself; 0 where none will."""
    ends = (
        row.ended + STAYS - now for row in agents.values() if not row.lives and _stays(row, now)
    )
    return min((left for left in ends if left > 0), default=0.0)


def ordered(rows: Sequence[AgentRow], asking: Collection[str]) -> list[AgentRow]:
    """Asks, fails, runs, done; a child stands below its parent, which stands as its most urgent."""
    paths = {row.path for row in rows}
    below: dict[str, list[AgentRow]] = {}
    for row in rows:
        below.setdefault(_parent(row.path, paths), []).append(row)
    rank = _ranks(rows, asking)
    return list(_walk("", below, lambda row: rank[row.path]))


def attended(agents: Agents) -> float:
    """Since when the turn waits for agents; 0 where it does not."""
    waits = (row.since for row in agents.values() if row.lives and not row.background)
    return min(waits, default=0.0)


def asking(view: View) -> frozenset[str]:
    """The agents that wait for an answer, also those whose question is not put yet."""
    waits = (path for path, row in view.agents.items() if row.asks and row.lives)
    return frozenset((*waits, *(each.path for each in view.asks if each.path != MAIN)))


def to_answer(view: View) -> int:
    """How many questions wait, those that are not put yet among them."""
    put = {each.path for each in view.asks}
    waits = {path for path in asking(view) if not run_of(path)}  # of a run its agents count
    waits |= {path for path, each in view.workers.items() if each.asks_since}
    return len(view.asks) + len(waits - put)


def in_title(view: View) -> str:
    """What of agents and questions the window's title says."""
    runs, asks = sum(row.lives for row in view.agents.values()), to_answer(view)
    parts = [f"{asks} to answer"] if asks else []
    if runs:
        parts.append(f"{runs} {'agent' if runs == 1 else 'agents'}")
    return " · ".join(parts)


def ended(view: View, batch: Sequence[Envelope]) -> str:
    """The background agents of the person's own turns that have just ended, in a few words."""
    children = [e.event.child for e in batch if isinstance(e.event, AgentFinished)]
    found = (view.agents.get(child) for child in children)
    rows = [row for row in found if row is not None and row.background and not row.depth]
    if len(rows) > 1:
        return f"{len(rows)} agents have ended"
    return f"{rows[0].label} {rows[0].state}: {rows[0].task}" if rows else ""


def _parent(path: str, paths: Collection[str]) -> str:
    """The nearest one above that is seen too."""
    above = path.rpartition("/")[0]
    while above and above not in paths:
        above = above.rpartition("/")[0]
    return above


def _ranks(rows: Sequence[AgentRow], asking: Collection[str]) -> dict[str, int]:
    """Of each row, or of the most urgent below it."""
    rank = {row.path: 0 if row.path in asking else _RANK[row.state] for row in rows}
    for path in sorted(rank, key=lambda path: -path.count("/")):
        above = _parent(path, rank)
        if above:
            rank[above] = min(rank[above], rank[path])
    return rank


def _walk(
    above: str, below: dict[str, list[AgentRow]], rank: Callable[[AgentRow], int]
) -> Iterator[AgentRow]:
    for row in sorted(below.get(above, ()), key=rank):
        yield row
        yield from _walk(row.path, below, rank)
