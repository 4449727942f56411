"""What a terminal sends, as messages of the framework: no byte that arrives ends the program.

The framework gives up at the first byte that is no UTF-8 and at key codes that are no character;
noise of a line, a binary paste or a strange terminal is no reason to lose a session.
"""

from __future__ import annotations

import re
import time
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

# Answers to questions that others asked: the framework would type them into the prompt.
_ANSWERS = re.compile(
    r"\x1b[\]P_^X][^\x1b\x07]*(?:\x07|\x1b\\)|\x1b\[(?:[?>=][\d;]*[cnu]|(?!48;)[\d;]*[cnt])"
)
# Keys with modifiers as xterm and tmux say them; the framework would read an Escape.
_MODIFIED = re.compile(r"\x1b\[27;(\d+);(\d+)~")
_SEQUENCES = re.compile("(?=\x1b)")
ESC = "\x1b"
_DEFECTS = (ValueError, ArithmeticError, LookupError, TypeError)


class Input:
    """Bytes in, messages out; what cannot be read is left out."""

    def __init__(self, *, debug: bool = False) -> None:
        self._debug = debug
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._parser = XTermParser(debug)

    def feed(self, data: bytes) -> Iterator[Message]:
        text = _MODIFIED.sub("\x1b[\\2;\\1u", _ANSWERS.sub("", self._decode(data)))
        parts = [part for part in _SEQUENCES.split(text) if part]
        for part, following in zip(parts, [*parts, ""][1:], strict=True):
            if part == following == ESC:  # the parser would read one of both
                yield events.Key("escape", ESC)
            else:
                yield from self._read(self._parser.feed(part))

    def tick(self) -> Iterator[Message]:
        """What a pause means: an Escape that stands alone."""
        yield from self._read(self._parser.tick())

    def replay(self, typed: Iterable[tuple[float, bytes]], pause: float) -> Iterator[Message]:
        """What came before, with the times it came at."""
        last, alone = 0.0, False
        for when, data in typed:
            if alone and when - last > pause:
                time.sleep(pause)  # the parser looks at the clock
                yield from _at(last, self.tick())
            yield from _at(when, self.feed(data))
            last, alone = when, data.endswith(b"\x1b")

    def _read(self, messages: Iterable[Message]) -> Iterator[Message]:
        try:
            yield from messages
        except _DEFECTS:
            before, self._parser = self._parser, XTermParser(self._debug)
            self._parser.mouse_pixels = before.mouse_pixels
            self._parser.terminal_size = before.terminal_size
            self._parser.terminal_pixel_size = before.terminal_pixel_size


def _at(when: float, messages: Iterable[Message]) -> Iterator[Message]:
    for message in messages:
        message.time = when
        yield message
