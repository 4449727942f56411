"""What a call means for the screen: its record, the run of reads it joins, the steps it set.

Part of the screen's fold: pure. Calls that only look, one after another, share one record.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from gatewright.agent.record import events as ev
from gatewright.tools.blocks import Todo
from gatewright.tools.protocol import REFUSED, Content, DocumentContent, ImageContent, TextContent
from gatewright.tui.agents.fold import call_ended
from gatewright.tui.state import Appended, Change, Patched, Reduced, View
from gatewright.tui.transcript.items import Looked, ToolRun, told

Call: TypeAlias = (
    ev.ToolStarted | ev.CheckStarted | ev.Decided | ev.ToolProgressed | ev.ToolFinished
)
CHECKING = "Checking whether this is safe"
MOST = 50  # calls of one record


def of_call(view: View, event: Call, at: float) -> Reduced:
    match event:
        case ev.ToolStarted():
            return _started(view, event, at)
        case ev.CheckStarted(call_id=id):
            known = view.tools.get(id)
            return (view, ()) if known is None else _tailed(view, known, CHECKING)
        case ev.Decided():
            return _judged(view, event)
        case ev.ToolProgressed():
            known = view.tools.get(event.call_id)
            if known is None:
                return view, ()
            grown = replace(known, tail=event.tail, seconds=event.seconds, movable=event.movable)
            grown = replace(grown, started=at - event.seconds)  # without the wait for an answer
            view, shown = patched(replace(view, tools={**view.tools, event.call_id: grown}), grown)
            return _running(view), shown
        case ev.ToolFinished():
            return _finished(view, event)


def _judged(view: View, event: ev.Decided) -> Reduced:
    """Whoever checked the call has come to an end."""
    known = view.tools.get(event.call_id)
    return _tailed(view, known, "") if known is not None and known.tail == CHECKING else (view, ())


def _tailed(view: View, run: ToolRun, tail: str) -> Reduced:
    told = replace(run, tail=tail)
    return patched(replace(view, tools={**view.tools, run.call_id: told}), told)


def _started(view: View, event: ev.ToolStarted, at: float) -> Reduced:
    group = view.looks[-1] if view.looks and event.looks else None
    joins = group is not None and group.id == view.next_id - 1 and len(group.runs) < MOST
    item = ToolRun(
        group.id if group is not None and joins else view.next_id,
        event.call_id,
        event.name,
        event.verb,
        event.target,
        before=event.view,
        started=at,
        looks=event.looks,
    )
    view = _running(replace(view, tools={**view.tools, event.call_id: item}))
    if group is not None and joins:
        return _regrouped(view, replace(group, runs=(*group.runs, item)))
    view = replace(view, next_id=view.next_id + 1)
    if not event.looks:
        return view, (Appended(item),)
    group = Looked(item.id, (item,))
    return replace(view, looks=(*_open(view), group)), (Appended(group),)


def _finished(view: View, event: ev.ToolFinished) -> Reduced:
    known = view.tools.get(event.call_id)
    if known is None:
        return view, ()
    said = told(event.view, event.summary)
    done = replace(
        known,
        state="ok" if event.ok else "refused" if event.summary == REFUSED else "failed",
        summary=event.summary,
        ms=event.ms,
        view=said,
        text="" if said else plain_content(event.content),
        tail="",
    )
    tools = {id: run for id, run in view.tools.items() if id != event.call_id}
    view, shown = patched(replace(view, tools=tools), done)
    listed = next((block for block in event.view if isinstance(block, Todo)), None)
    if listed is not None:
        view = replace(view, todo=listed.items)
    return _running(call_ended(view, event.call_id)), shown


def patched(view: View, item: ToolRun) -> Reduced:
    """The changed record of a call; that of one that is an agent is the agent's."""
    if item.call_id in view.agent_calls:
        return view, ()
    group = next((each for each in view.looks if each.id == item.id), None)
    if group is None:
        return view, (Patched(item),)
    runs = tuple(item if run.call_id == item.call_id else run for run in group.runs)
    return _regrouped(view, replace(group, runs=runs))


def all_stopped(view: View) -> Reduced:
    """No call runs any more."""
    changes: list[Change] = []
    for item in view.tools.values():
        view, shown = patched(view, replace(item, state="stopped", tail=""))
        changes += shown
    return replace(view, tools={}, looks=()), tuple(changes)


def _regrouped(view: View, group: Looked) -> Reduced:
    looks = tuple(group if each.id == group.id else each for each in view.looks)
    return replace(view, looks=looks), (Patched(group),)


def _open(view: View) -> tuple[Looked, ...]:
    """Those with calls that still run."""
    ids = {run.id for run in view.tools.values()}
    return tuple(group for group in view.looks if group.id in ids)


def _running(view: View) -> View:
    """Since when the call runs that began last."""
    last = next(reversed(view.tools.values()), None)
    return replace(view, doing="", doing_since=last.started if last is not None else 0.0)


def plain_content(content: tuple[Content, ...]) -> str:
    """What a model gets, as text."""
    parts: list[str] = []
    for piece in content:
        match piece:
            case TextContent(text=text):
                parts.append(text)
            case ImageContent(media_type=media_type):
                parts.append(f"[image {media_type}]")
            case DocumentContent(name=name, media_type=media_type):
                parts.append(f"[{name or media_type}]")
    return "\n".join(parts)
