"""What agents below the one on the screen mean for it: their rows, their records, their questions.

Part of the screen's fold: pure. What such an agent does otherwise is told under its own path.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from gatewright.agent.record import events as ev
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Ask
from gatewright.tui.agents.known import (
    AgentRow,
    broken_off,
    finished,
    progressed,
    started,
    with_row,
    worked_ms,
)
from gatewright.tui.state import Appended, Change, Patched, Pending, Reduced, View, Worker
from gatewright.tui.transcript.items import AgentBlock, Note

Told: TypeAlias = ev.AgentStarted | ev.AgentFinished | ev.AgentProgressed
Question: TypeAlias = ev.Asked | ev.Answered


def of_agent(view: View, event: Told, at: float) -> Reduced:
    """What the agent on the screen did with others: each has a record in its transcript."""
    match event:
        case ev.AgentStarted():
            return _begun(view, event, at)
        case ev.AgentProgressed() | ev.AgentFinished():
            return _goes_on(view, event, at)


def of_child(view: View, envelope: ev.Envelope) -> Reduced:
    """An agent below shows in the strip and asks."""
    event, at = envelope.event, envelope.timestamp
    match event:
        case ev.Asked() | ev.Answered():
            return of_question(view, event, envelope.agent, at)
        case ev.AgentStarted():
            row = started(view.agents.get(event.child), event, at)
            return replace(view, agents=with_row(view.agents, row)), ()
        case ev.AgentProgressed() | ev.AgentFinished():
            return _goes_on(view, event, at)
        case _:
            return view, ()


def _begun(view: View, event: ev.AgentStarted, at: float) -> Reduced:
    """Its record takes the place of the call that started it; one that goes on has a new one."""
    row = started(view.agents.get(event.child), event, at)
    call = view.tools.get(event.call_id)
    id = call.id if call is not None else view.next_id
    block = _block(
        row, AgentBlock(id=id, path="", label="", task="", state="", prompt=event.prompt)
    )
    agents = with_row(view.agents, replace(row, block=block))
    if call is not None:
        calls = {**view.agent_calls, event.call_id: event.child}
        return replace(view, agents=agents, agent_calls=calls), (Patched(block),)
    return replace(view, agents=agents, next_id=id + 1), (Appended(block),)


def _goes_on(view: View, event: ev.AgentProgressed | ev.AgentFinished, at: float) -> Reduced:
    before = view.agents.get(event.child)
    match event:
        case ev.AgentProgressed():
            if before is None:
                return view, ()
            row = progressed(before, event, at)
        case ev.AgentFinished():
            row = finished(before or AgentRow(path=event.child), event, at)
    if row == before:
        return view, ()
    shown: tuple[Change, ...] = ()
    if row.block is not None:
        block = _block(row, row.block)
        if isinstance(event, ev.AgentFinished):
            block = replace(
                block, report=event.report, ms=worked_ms(event), why=event.why, place=_place(event)
            )
        row, shown = replace(row, block=block), (Patched(block),)
    return replace(view, agents=with_row(view.agents, row)), shown


def _block(row: AgentRow, block: AgentBlock) -> AgentBlock:
    return replace(
        block,
        path=row.path,
        label=row.label,
        task=row.task,
        state=row.state,
        doing=row.doing if row.lives else "",
        tools=row.tools,
        tokens=row.tokens,
        cost=row.cost,
    )


def _place(event: ev.AgentFinished) -> str:
    return " on branch ".join(part for part in (event.worktree, event.branch) if part)


def call_ended(view: View, call_id: str) -> View:
    """The call of an agent that still works has ended: it goes on in the background."""
    path = view.agent_calls.get(call_id)
    if path is None:
        return view
    calls = {id: each for id, each in view.agent_calls.items() if id != call_id}
    view, row = replace(view, agent_calls=calls), view.agents.get(path)
    if row is None or not row.lives:
        return view
    return replace(view, agents=with_row(view.agents, replace(row, background=True)))


def turn_over(view: View, *, all: bool = False) -> Reduced:
    """Agents that belonged to the turn have ended with it; `all`: nothing runs at all."""
    agents = broken_off(view.agents, all=all)
    shown: list[Change] = []
    for path, row in agents.items():
        if row.block is not None and row.state != view.agents[path].state:
            block = _block(row, row.block)
            agents = {**agents, path: replace(row, block=block)}
            shown.append(Patched(block))
    return replace(view, agents=agents, agent_calls={}), tuple(shown)


def was_read(view: View) -> View:
    """The person writes: what failed before was seen."""
    if all(row.lives or row.read for row in view.agents.values()):
        return view
    return replace(
        view,
        agents={
            path: replace(row, read=True) if not row.lives else row
            for path, row in view.agents.items()
        },
    )


def of_question(view: View, event: Question, path: str, at: float) -> Reduced:
    """Where somebody else who looks at the session has answered it, that is told."""
    before, view = view.asks, asked(view, event, path, at)
    if not isinstance(event, ev.Answered) or not event.by:
        return view, ()
    pending = next((each for each in before if each.id == event.id), None)
    if pending is None:
        return view, ()
    note = Note(view.next_id, f"{event.by} answered: {_answer(pending.ask, event.answer)}", "dim")
    return replace(view, next_id=view.next_id + 1), (Appended(note),)


def _answer(ask: Ask, answer: Answer) -> str:
    chosen = [option.label for option in ask.options if option.id in answer.choices]
    words = answer.text.partition("\n")[0]
    said = ", ".join(filter(None, (*chosen, words)))
    return f"{ask.title}: {said or ('nothing' if answer.cancelled else 'done')}"


def asked(view: View, event: Question, path: str, at: float) -> View:
    """First come, first asked, the foreground turn before others; what is seen stays."""
    match event:
        case ev.Answered(id=id):
            left = tuple(pending for pending in view.asks if pending.id != id)
            return replace(_resumed(view, left, at), asks=left)
        case ev.Asked(id=id, ask=ask):
            row = view.agents.get(path)
            who = view.workers.get(path, Worker(path.rpartition("/")[2]))
            if row is not None:
                who = Worker(row.label, row.task, row.asks_since)
            elif path == MAIN:
                who = Worker(MAIN)
            waits = min(who.asks_since or at, at)  # perhaps behind others that were put first
            pending = Pending(id, ask, who.label, path, who.task, put=at, since=waits)
            return replace(view, asks=_queued(view, pending))


def _resumed(view: View, left: tuple[Pending, ...], at: float) -> View:
    """Where the turn no longer waits for the person: that time is nobody else's."""
    waits = [each for each in view.asks if _foreground(view, each.path)]
    if not waits or any(each in left for each in waits):
        return view
    took = max(0.0, at - min(each.put for each in waits))
    tools = {id: replace(run, started=run.started + took) for id, run in view.tools.items()}
    since = view.doing_since + took if view.doing_since else 0.0
    return replace(view, tools=tools, doing_since=since, waited=view.waited + took)


def _queued(view: View, pending: Pending) -> tuple[Pending, ...]:
    asks = view.asks
    place = len(asks)
    if _foreground(view, pending.path):
        waits = [n for n, each in enumerate(asks) if n and not _foreground(view, each.path)]
        place = waits[0] if waits else place
    return (*asks[:place], pending, *asks[place:])


def _foreground(view: View, path: str) -> bool:
    """Whether the turn waits for this agent: none above it is in the background.

    One without a row is a workflow's, for which nobody waits.
    """
    while path and path not in (MAIN, view.path):
        row = view.agents.get(path)
        if row is None or row.background:
            return False
        path = path.rpartition("/")[0]
    return True
