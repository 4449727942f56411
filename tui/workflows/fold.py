"""What runs of workflows mean for the screen: a row each in the strip. Part of its fold: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec.structs import replace

from gatewright.agent.record import events as ev
from gatewright.tools.access import MAIN
from gatewright.tui.agents.known import AgentRow, AgentState, with_row
from gatewright.tui.state import View, Worker

Told: TypeAlias = ev.WorkflowStarted | ev.WorkflowProgressed | ev.WorkflowEnded
Workers: TypeAlias = Mapping[str, Worker]
AT_WORK = ("running", "waiting", "asks")
PLACE = "workflow/"  # before its id, in place of an agent's path
STATES: Mapping[str, AgentState] = {
    "pending": "waiting",
    "paused": "waiting",
    "running": "running",
    "done": "done",
    "stopped": "stopped",
    "interrupted": "interrupted",
}


def run_of(path: str) -> str:
    """Which run a row stands for; empty where it is an agent's."""
    return path.removeprefix(PLACE) if path.startswith(PLACE) else ""


def of_run(view: View, event: Told, at: float) -> View:
    path = f"{PLACE}{event.run}"
    before = view.agents.get(path)
    row = before or AgentRow(path=path, kind=event.name, background=True, since=at)
    workers = view.workers
    match event:
        case ev.WorkflowStarted():
            task = event.title or event.description
            row = AgentRow(path=path, kind=event.name, task=task, background=True, since=at)
        case ev.WorkflowProgressed():
            if row.over:
                return view
            row, workers = _progressed(row, event, at), _workers(workers, event, at)
        case ev.WorkflowEnded():
            workers = {p: each for p, each in workers.items() if each.run != event.run}
            used = event.usage
            tokens = used.input + used.output + used.cache_read + used.cache_write
            row = replace(
                row,
                state=STATES.get(event.status, "failed"),
                task=_came_to(event) or row.task,
                doing=event.why,
                tokens=tokens or row.tokens,
                cost=event.cost or row.cost,
                ended=at,
                over=True,
                asks=False,
            )
    if row == before and workers == view.workers:
        return view
    return replace(view, agents=with_row(view.agents, row), workers=workers)


def _workers(known: Workers, event: ev.WorkflowProgressed, at: float) -> Workers:
    """By their paths, for questions: they have no rows of their own."""
    found = dict(known)
    for call in event.calls:
        path = f"{MAIN}/{call.agent}"
        if call.state in AT_WORK and call.agent:
            before, asks = known.get(path), call.state == "asks"
            since = (before.asks_since if before else 0.0) or at
            task = f"{event.name} · {call.phase}".strip(" ·")
            since = since if asks else 0.0
            found[path] = Worker(call.label or event.name, task, since, event.run)
        else:
            found.pop(path, None)
    return found


def _came_to(event: ev.WorkflowEnded) -> str:
    count = event.ok + event.failed + event.replayed
    failed = f", {event.failed} failed" if event.failed else ""
    return f"{count} {'agent' if count == 1 else 'agents'}{failed}" if count else ""


def _at(event: ev.WorkflowProgressed) -> str:
    """Its phase, and how many of how many; empty before anybody was asked."""
    counted = f"{event.done}/{event.total}" if event.total else ""
    return f"{event.phase} {counted}".strip()


def _progressed(row: AgentRow, event: ev.WorkflowProgressed, at: float) -> AgentRow:
    """Its row says: phase, how many of how many, who works, who waits for the person."""
    waits = (
        event.status == "paused" and event.asks and event.asks == event.live
    )  # for the person, who paused nothing
    status = "" if event.status == "running" or waits else event.status
    live = f" · {event.live} live" if event.live and event.live != event.asks else ""
    failed = f" · {event.failed} failed" if event.failed else ""
    asks = f" · {event.asks} asking" if event.asks else ""
    return replace(
        row,
        state=STATES.get(event.status, "running"),
        task=_at(event) or row.task,
        doing=f"{status}{live}{failed}{asks}".strip(" ·"),
        since=row.since or at - event.seconds,
        tools=event.total,
        tokens=max(row.tokens, event.tokens),
        cost=max(row.cost, event.cost),
        asks=bool(event.asks) and event.asks == event.live,
    )
