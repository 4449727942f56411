"""Bounds what a tool may say: head and tail with a marker between, the whole in a spill file.

Memory stays below head + twice the tail however much is fed in.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from gatewright.tools.counted import counted
from gatewright.tools.inert import inert
from gatewright.tools.protocol import Content, TextContent, ToolResult
from gatewright.tools.system import private

_CONTINUATION = bytes(range(0x80, 0xC0))
_numbers = itertools.count(1)


def spill_path(directory: Path, kind: str) -> Path:
    """A new file name below `directory`, unique among all processes that spill there."""
    return directory / f"{kind}-{os.getpid()}-{next(_numbers)}.txt"


class HeadTail:
    """Keeps the first `head` and the last `tail` bytes of a stream and counts the rest."""

    def __init__(self, head: int, tail: int) -> None:
        self._head_size = head
        self._tail_size = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._hidden_lines = 0
        self.size = 0

    def feed(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        if len(self._tail) > 2 * self._tail_size:
            self._trim()

    def _trim(self) -> None:
        cut = max(0, len(self._tail) - self._tail_size)
        self._hidden_lines += self._tail.count(b"\n", 0, cut)
        del self._tail[:cut]

    @property
    def ends_line(self) -> bool:
        return (self._tail or self._head).endswith(b"\n")

    @property
    def hidden_lines(self) -> int:
        """How many lines the text leaves out: those of which no part is in it."""
        return self._hidden_lines + self._shown()[2] if self._cut else 0

    @property
    def lines_above(self) -> int:
        """How many lines of the text stand above the gap; 0 where nothing is missing."""
        return self._shown()[0].count(b"\n") if self._cut else 0

    @property
    def _cut(self) -> bool:
        return self.size > self._head_size + self._tail_size

    def _shown(self) -> tuple[bytes, bytes, int]:
        """Whole lines before and after the gap, and the line ends that this adds to the gap."""
        self._trim()
        head = self._head[: self._head.rfind(b"\n") + 1] or self._head + b"\n"
        start = self._tail.find(b"\n", 0, -1) + 1
        return bytes(head), bytes(self._tail[start:]), int(start > 0)

    def so_far(self) -> bytes:
        """All that is kept, in order."""
        return bytes(self._head + self._tail)

    def last(self, size: int) -> str:
        """The end of the stream made inert: at most `size` bytes, fewer if they were dropped."""
        data = bytes(self._tail[-size:]) if size > 0 else b""
        if len(data) < size and self.size == len(self._head) + len(self._tail):
            data = bytes(self._head + self._tail)[-size:]
        if len(data) < self.size:
            data = data.lstrip(_CONTINUATION)  # the cut may fall into a character
        return inert(data.decode(errors="replace")).rstrip("\n")

    def text(self, note: Callable[[int], str]) -> str:
        """The stream made inert; where the middle is missing stands `note(hidden bytes)`."""
        if not self._cut:
            return inert(bytes(self._head + self._tail).decode(errors="replace"))
        head, tail, _ = self._shown()
        hidden = self.size - len(head) - len(tail)
        shown = [inert(part.decode(errors="replace")) for part in (head, tail)]
        return f"{shown[0]}\n{note(hidden)}\n\n{shown[1]}"


def capped(result: ToolResult, spill: Path, name: str) -> ToolResult:
    """The result with its text within `result.cap`; the whole text goes to a spill file."""
    size = sum(len(part.text) for part in result.content if isinstance(part, TextContent))
    if size <= result.cap:
        return result
    whole = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    note = _keep(whole, spill, name)
    share = max(0, result.cap - len(note))
    cut = TextContent(f"{note}\n{whole[: share * 2 // 3]}\n\n[...]\n\n{whole[-(share // 3) :]}")
    kept: list[Content] = [p for p in result.content if not isinstance(p, TextContent)]
    return msgspec.structs.replace(result, content=(cut, *kept))


def _keep(text: str, spill: Path, name: str) -> str:
    path = spill_path(spill, name.lower())
    lines = text.count("\n") + 1
    try:
        private.write(path, text.encode("utf-8", "replace"))
    except OSError as error:
        return f"[{counted(lines, 'line')}, cut; the whole could not be kept: {error.strerror}]"
    return f"[{counted(lines, 'line')}, cut; the whole is in {path}: Read or Grep it]"
