"""What the view knows of hooks: those that run, and how many failed unseen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from gatewright.agent.record import events as ev
from gatewright.tui.state import Hooked, View

HookEvent: TypeAlias = ev.HookStarted | ev.HookAnswered | ev.HookRan | ev.HooksSeen


def besides(
    batch: Sequence[ev.Envelope],
    draft: Callable[[str], object],
    put_back: Callable[[str], object],
    say: Callable[[str], object],
) -> None:
    """What a live batch leads to beside the transcript."""
    for envelope in batch:
        match envelope.event:
            case ev.Rewound(text=text) if text:
                draft(text)  # the message it went back to is there to be edited
            case ev.InputRefused(text=text, declined=False) if text:
                put_back(text)
            case ev.HookAnswered(terminal=sequence) if sequence:
                say(sequence)
            case _:
                pass


def passed(event: ev.HookRan) -> str:
    """A hook that went well: it stands below its call once that is opened."""
    return f"{event.hook_event} hook {event.command}: {event.ms} ms"


def hooked(view: View, event: HookEvent, at: float) -> tuple[View, str]:
    """The view after it, and what the person is told."""
    match event:
        case ev.HookStarted(id=id, command=command, status=status, waits=waits):
            begun = Hooked(id, status or command, at, waits)
            return replace(view, hooks=(*view.hooks, begun)), ""
        case ev.HookRan(id=id, outcome=outcome, message=message, hook_event=name):
            left = tuple(each for each in view.hooks if each.id != id)
            here = len(left) < len(view.hooks)  # not in an earlier run of the session
            failures = view.hook_failures + (outcome == "error" and here)
            view = replace(view, hooks=left, hook_failures=failures)
            return view, f"{name} hook: {message}" if message else ""
        case ev.HookAnswered():
            return view, ""
        case ev.HooksSeen():
            return replace(view, hook_failures=0), ""
