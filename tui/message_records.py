"""The records of one message of the model: as it streams, complete, and as somebody redraws it."""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from gatewright.agent.record import events as ev
from gatewright.agent.record.messages import AssistantPart, TextPart, ThinkingPart
from gatewright.tui.state import Appended, Change, Patched, Reduced, Removed, View
from gatewright.tui.transcript.items import Note, Prose, Thought

Told: TypeAlias = ev.TextDelta | ev.ThinkingDelta | ev.AssistantMessage | ev.MessageRedrawn


def of_message(view: View, event: Told, at: float) -> Reduced:
    match event:
        case ev.TextDelta(text=text):
            return _streamed(view, Prose(0, text), at)
        case ev.ThinkingDelta(text=text):
            return _streamed(view, Thought(0, text, started=at), at)
        case ev.AssistantMessage():
            return _settled(view, event, at)
        case ev.MessageRedrawn():
            return _redrawn(view, event)


def _streamed(view: View, piece: Prose | Thought, at: float) -> Reduced:
    view = replace(view, doing="", doing_since=0.0, until=0.0, busy_since=view.busy_since or at)
    last = view.live[-1] if view.live else None
    if last is not None and type(last) is type(piece):
        grown = replace(last, text=last.text + piece.text)
        return replace(view, live=(*view.live[:-1], grown)), (Patched(grown),)
    changes: list[Change] = []
    live = view.live
    if isinstance(last, Thought) and not last.done:
        closed = replace(last, done=True, ms=round((at - last.started) * 1000))
        live = (*live[:-1], closed)
        changes.append(Patched(closed))
    fresh = replace(piece, id=view.next_id)
    changes.append(Appended(fresh))
    return replace(view, live=(*live, fresh), next_id=view.next_id + 1), tuple(changes)


def _settled(view: View, event: ev.AssistantMessage, at: float) -> Reduced:
    """Put the complete message in the place of what streamed of it."""
    changes: list[Change] = []
    prose: list[int] = []
    live = list(view.live)
    next_id = view.next_id
    for part in event.parts:
        item = _item_of(part, at)
        if item is None:
            continue
        match = next((old for old in live if type(old) is type(item)), None)
        if match is not None:
            live.remove(match)
            item = _completed(match, item, at)
            changes.append(Patched(item))
        else:
            item = replace(item, id=next_id)
            changes.append(Appended(item))
            next_id += 1
        if isinstance(item, Prose):
            prose.append(item.id)
    changes += [Removed(old.id) for old in live]
    if event.cut:
        changes.append(Appended(Note(next_id, "Cut off here.", "dim")))
        next_id += 1
    view = replace(view, live=(), next_id=next_id, doing="", doing_since=0.0, until=0.0)
    return replace(view, prose=(event.id, tuple(prose))), tuple(changes)


def _redrawn(view: View, event: ev.MessageRedrawn) -> Reduced:
    """Another text in the place of the last message, as long as it is the last."""
    id, records = view.prose
    if id != event.id or not records:
        return view, ()
    first, *others = records
    shown: Change = Patched(Prose(first, event.text, done=True))
    return replace(view, prose=(id, (first,))), (shown, *(Removed(other) for other in others))


def _item_of(part: AssistantPart, at: float) -> Prose | Thought | None:
    match part:
        case TextPart(text=text) if text.strip():
            return Prose(0, text, done=True)
        case ThinkingPart(text=text, redacted=redacted) if text.strip() or redacted:
            return Thought(0, text, started=at, done=True)
        case _:
            return None


def _completed(old: Prose | Thought, new: Prose | Thought, at: float) -> Prose | Thought:
    if isinstance(old, Thought):
        ms = old.ms or round((at - old.started) * 1000)
        return replace(old, text=new.text, done=True, ms=ms)
    return replace(old, text=new.text, done=True)
