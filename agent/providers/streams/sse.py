"""Server-sent events from bytes, however they are cut: work per byte is constant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gatewright.tools.system.patterns import later

_LIMIT = 16 * 1024 * 1024
_LINE = 64
_BLANKS = (b"\n\n\n", b"\r\n\r\n\r\n", b"\r\r\r")
_MANY = later(rb"(\r\n|\n|\r)\1{2,}")


class EventTooLong(ValueError):
    """A single event beyond any sense: the stream is not what it claims to be."""


class Sse(NamedTuple):
    """Without data it is a comment, which servers send to show that they are alive."""

    event: str
    data: bytes


class SseReader:
    """Feed chunks, iterate over complete events; `end` gives what an unfinished stream left."""

    def __init__(self) -> None:
        self._partial: list[bytes] = []  # pieces of a line not ended yet
        self._held = 0  # bytes of that line
        self._size = 0  # bytes of the data so far, and what keeping each line costs
        self._event = ""
        self._data: list[bytes] = []
        self._commented = False
        self._begun = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> Iterator[Sse]:
        if not chunk:
            return
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a line end cut in two
        self._after_cr = chunk.endswith(b"\r") if chunk else self._after_cr
        if any(blank in chunk for blank in _BLANKS):
            chunk = _MANY.sub(rb"\1\1", chunk)  # what follows the second one says nothing
        lines = chunk.splitlines(keepends=True)
        for line in lines:
            if not line.endswith((b"\n", b"\r")):
                self._hold(line)
                return
            whole = line.rstrip(b"\r\n")
            if self._partial:
                self._partial.append(whole)
                whole = b"".join(self._partial)
                self._partial = []
                self._held = 0
            if (event := self._line(whole)) is not None:
                yield event

    def end(self) -> Iterator[Sse]:
        """A last event that no empty line ended: some servers forget it."""
        if self._partial:
            self._line(b"".join(self._partial))
            self._partial = []
        if (event := self._line(b"")) is not None:
            yield event

    def _hold(self, line: bytes) -> None:
        self._held += len(line)
        self._check()
        self._partial.append(line)

    def _check(self) -> None:
        if self._held + self._size > _LIMIT:
            raise EventTooLong(f"an event of more than {_LIMIT // 1024**2} MiB")

    def _line(self, line: bytes) -> Sse | None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._flush()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value) + _LINE
            self._check()
            self._data.append(value)
        elif not name:
            self._commented = True
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        return None

    def _flush(self) -> Sse | None:
        event, data, commented = self._event, self._data, self._commented
        self._event, self._commented = "", False
        if not data:
            return Sse("", b"") if commented else None
        self._data, self._size = [], 0
        return Sse(event, data[0] if len(data) == 1 else b"\n".join(data))
