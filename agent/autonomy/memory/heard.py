"""What was said and done since something was last learnt, bounded: whose word each part is.

What a person typed, what the model wrote and what it called are kept as text for the question;
what tools answered, or others wrote, only to tell what was copied from them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Self

from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Rewound,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from gatewright.agent.record.messages import TextPart
from gatewright.tools.protocol import Content, TextContent

SAID, CALLS, OUTPUT = 40_000, 20_000, 1_000_000  # characters kept of each
WORDS, ANSWER, CALL = 2_000, 1_500, 400  # of one in the question
OPEN = 200


class Heard:
    """Fed with the main agent's events."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._outputs = _Bounded(OUTPUT)
        self.forget()

    def forget(self) -> None:
        """But for what others wrote: the model may still have it, and say it again."""
        self.lines = _Bounded(SAID)
        self._person = _Bounded(SAID)
        self._done = _Bounded(CALLS)

    def next(self) -> Self:
        """For what comes after this: nothing was said of it yet."""
        made = type(self)()
        made._outputs = self._outputs
        return made

    @property
    def typed(self) -> str:
        """By the person, with their own hands."""
        return "\n".join(self._person)

    @property
    def done(self) -> str:
        """Calls that ran, and well: each was let through by the gate."""
        return "\n".join(self._done)

    @property
    def outputs(self) -> Iterable[str]:
        return tuple(self._outputs)

    def saw(self, event: AnyEvent) -> None:
        match event:
            case UserMessage(hidden=False, source=""):
                self._said(event)
            case UserMessage(content=content):  # a notice, a file that was named, another's words
                self._read(content)
            case AssistantMessage(parts=parts):
                text = "\n".join(part.text for part in parts if isinstance(part, TextPart))
                self.lines.add(f"AGENT: {_line(text, ANSWER)}" if text.strip() else "")
            case ToolStarted() as started:
                about = str(started.input.get("command") or started.target)
                if len(self._open) < OPEN:
                    self._open[started.call_id] = f"{started.name} {about}".strip()
            case ToolFinished() as finished:
                self._ended(finished)
            case Cleared() | Rewound():
                self.forget()
            case _:
                pass

    def _said(self, event: UserMessage) -> None:
        whole = "\n".join(part.text for part in event.content if isinstance(part, TextContent))
        typed = whole if event.typed is None else event.typed
        if event.typed is not None:
            self._read(event.content)
        self._person.add(typed)
        if typed.strip():
            self.lines.add(f"PERSON: {_line(typed, WORDS)}")

    def _ended(self, finished: ToolFinished) -> None:
        call = self._open.pop(finished.call_id, "")
        if call and finished.ok:
            self._done.add(call)
            self.lines.add(f"CALL: {_line(call, CALL)}")
        self._read(finished.content)

    def _read(self, content: Iterable[Content]) -> None:
        for part in content:
            if isinstance(part, TextContent):
                self._outputs.add(part.text)


def read_before(events: Iterable[AnyEvent]) -> Sequence[str]:
    """What others wrote in a session that goes on: nobody else learns from it any more."""
    heard = Heard()
    for event in events:
        heard.saw(event)
    return tuple(heard.outputs)


class _Bounded(deque[str]):
    """Texts, the oldest of which go."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self._size = most, 0

    def add(self, text: str) -> None:
        if not text:
            return
        self.append(text[: self._most])
        self._size += len(self[-1])
        while self._size > self._most:
            self._size -= len(self.popleft())


def _line(text: str, most: int) -> str:
    """One line: no text begins one that looks like another's."""
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
