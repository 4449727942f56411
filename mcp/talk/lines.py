"""Cuts a stream of bytes into lines in linear time; one that is too long is skipped to its end."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

MOST = 32 * 1024 * 1024
_SEEN = 512  # of a line that is left out, at each end: where its id stands
_BIT, _FEW, _GATHERS = 4096, 16, 0.002  # bytes, chunks, seconds
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})\s*[,}]')


class Oversized:
    """What is known of a line that was left out."""

    def __init__(self, head: bytes, tail: bytes) -> None:
        found = _ID.search(head) or _ID.search(tail)
        self.id = int(found[1]) if found else None


class Lines:
    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held = bytearray()
        self._size = 0
        self._head = b""
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | Oversized]:
        """Every line that has ended, without its end; empty ones are left out."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._add(chunk[start:end])
            start = end + 1
            if self._skipping:
                yield Oversized(self._head, bytes(self._held[-_SEEN:]))
            elif line := bytes(self._held).strip():
                yield line
            self._held, self._size, self._skipping = bytearray(), 0, False
        if start < len(chunk):
            self._add(chunk[start:] if start else chunk)

    def _add(self, part: bytes) -> None:
        if not part:
            return
        self._size += len(part)
        self._held += part
        if self._size > self._most:
            if not self._skipping:
                self._head = bytes(self._held[:_SEEN])
                self._skipping = True
            del self._held[:-_SEEN]


class Drip:
    """Lets a line gather that is written bit by bit: else each bit would cost what a line does."""

    def __init__(self) -> None:
        self._bits = 0  # in a row

    async def after(self, chunk: bytes) -> None:
        self._bits = self._bits + 1 if len(chunk) < _BIT and b"\n" not in chunk else 0
        if self._bits > _FEW:
            await asyncio.sleep(_GATHERS)
