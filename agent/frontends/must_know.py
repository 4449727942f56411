"""Which events a person must hear of wherever they look, as one sentence each.

A fold like any other, and the only place that decides it: front ends ask here and keep no list.
"""

from __future__ import annotations

from gatewright.agent.record.events import (
    AnyEvent,
    Decided,
    Envelope,
    HookRan,
    ImagesDropped,
    Noticed,
    RequestQueued,
    RetryScheduled,
    StreamSilent,
    TurnEnded,
)
from gatewright.tools.access import MAIN

KEPT = 100  # sentences of one turn; what a model makes fail by the thousand is counted
TARGET = 160  # characters of a call in a sentence
SILENCE_TOLD = 30.0  # seconds from one word about a silent server to the next


def warning(event: AnyEvent) -> str:
    """What stays true after the turn and changes what its answer is worth; else empty."""
    match event:
        case Noticed(text=text, tone="warning" | "error"):
            return text
        case Decided(behavior="deny", answer="", tool=tool, target=target, reason=reason):
            return f"Refused: {_call(tool, target)}. {reason}"
        case ImagesDropped(reason=reason):
            return f"The model goes on without the pictures. {reason}".rstrip()
        case HookRan(message=message, hook_event=name) if message:
            return f"{name} hook: {message}"
        case _:
            return ""


def waiting(event: RetryScheduled) -> str:
    """Why the next attempt has to wait, how long, and which of how many it is."""
    when = f"in {event.seconds:.0f} s" if event.seconds >= 0.5 else "at once"
    said = f"{event.reason} Trying again {when}"
    return f"{said} ({event.attempt} of {event.attempts})." if event.attempts else f"{said}."


class MustKnow:
    """The warnings of a turn, each sentence once."""

    def __init__(self) -> None:
        self._said: dict[str, None] = {}
        self._more = 0

    def saw(self, envelope: Envelope) -> str:
        """What is new in this event; empty when there is nothing, or it was said already."""
        text = warning(envelope.event)
        if not text:
            return ""
        if envelope.agent != MAIN:
            text = f"[{envelope.agent}] {text}"
        if text in self._said:
            return ""
        if len(self._said) >= KEPT:
            self._more += 1
            return ""
        self._said[text] = None
        return text

    def taken(self) -> list[str]:
        """All so far; the next turn begins with none."""
        said, more = list(self._said), self._more
        self._said, self._more = {}, 0
        return [*said, f"And {more:,} more like these."] if more else said


class Told:
    """The lines of standard error in every output format: warnings, waits and silences."""

    def __init__(self) -> None:
        self._warnings = MustKnow()
        self._silent = -SILENCE_TOLD  # the length of the silence that was last told
        self._queued = 0.0  # when it was told last that a request waits

    def line(self, envelope: Envelope) -> str:
        match envelope.event:
            case RetryScheduled() as retry:
                self._queued = envelope.timestamp
                return f"agent: {waiting(retry)}"
            case StreamSilent(seconds=seconds, limit=limit):
                return self._silence(seconds, limit)
            case RequestQueued(why=why) if envelope.agent == MAIN:
                if 0 <= envelope.timestamp - self._queued < SILENCE_TOLD:
                    return ""
                self._queued = envelope.timestamp
                return f"agent: {why}."
            case TurnEnded() if envelope.agent == MAIN:
                more = self._warnings.taken()[KEPT:]
                return f"agent: {more[0]}" if more else ""
            case _:
                self._silent = -SILENCE_TOLD
                text = self._warnings.saw(envelope)
                return f"agent: {text}" if text else ""

    def _silence(self, seconds: float, limit: float) -> str:
        if 0 <= seconds - self._silent < SILENCE_TOLD:
            return ""
        self._silent = seconds
        return f"agent: The model has been silent for {seconds:.0f} s; at {limit:.0f} s it is left."


def _call(tool: str, target: str) -> str:
    words = " ".join(target.split())
    words = words if len(words) <= TARGET else f"{words[:TARGET]}…"
    return f"{tool}({words})" if words else tool
