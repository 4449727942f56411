"""The answer on a terminal as it comes: every character once, no line within another."""

from __future__ import annotations

from collections.abc import Callable

from gatewright.agent.frontends.json_lines import Sink
from gatewright.agent.frontends.turn import text_of
from gatewright.agent.record.events import (
    AssistantMessage,
    Envelope,
    MessageDropped,
    TextDelta,
    TurnEnded,
)
from gatewright.tools.access import MAIN

HELD = 8  # characters at the end of a piece that the next one may join: a family of emoji


class Live:
    """`settle` waits until all of it is written, as somebody else writes to that terminal too."""

    def __init__(self, out: Sink, settle: Callable[[], object]) -> None:
        self._out = out
        self._settle = settle
        self._held = ""
        self._streamed = ""  # of the message that is being written
        self._open = False  # the cursor stands behind a text

    def write(self, text: str) -> None:
        """What is no message of the model."""
        self.end_line()
        self._write(text)

    def saw(self, envelope: Envelope) -> None:
        if envelope.agent != MAIN:
            return
        match envelope.event:
            case TextDelta(text=text):
                self._streamed += text
                self._hold(self._held + text)
            case AssistantMessage() as message:
                self._complete(text_of(message))
            case TurnEnded():
                self.end_line()
            case MessageDropped():
                self._streamed = self._held = ""
                self.end_line()
            case _:
                pass

    def _hold(self, text: str) -> None:
        """Write what no later piece can change the look of."""
        cut = len(text)
        while cut and len(text) - cut < HELD and not (" " <= text[cut - 1] < "\x7f"):
            if text[cut - 1] == "\n":
                break
            cut -= 1
        self._write(text[:cut])
        self._held = text[cut:]

    def _complete(self, whole: str) -> None:
        """What streamed is the beginning of it; where it is not, the whole counts."""
        self._write(self._held)
        if whole.startswith(self._streamed):
            self._write(whole[len(self._streamed) :])
        else:
            self.end_line()
            self._write(whole)
        self._streamed = self._held = ""
        self.end_line()

    def _write(self, text: str) -> None:
        if text:
            self._out.write(text)
            self._open = not text.endswith("\n")

    def end_line(self) -> None:
        """Whoever writes next begins a line of their own."""
        self._write(self._held)
        self._held = ""
        if self._open:
            self._write("\n")
        self._settle()
