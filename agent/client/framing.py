"""Lines out of chunks of bytes, none longer than a limit: what is in one is no more than copied."""

from __future__ import annotations

from collections.abc import Iterator

MAX_LINE = 64 * 1024 * 1024


class TooLong(Exception):
    """A line without end."""


class Lines:
    """Takes what came, in order, and gives the lines that are whole, without their ends."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []  # of the line whose end has not come yet
        self._size = 0

    def add(self, chunk: bytes) -> Iterator[bytes]:
        """Raises TooLong, once what is whole was given."""
        first, *others = chunk.split(b"\n")
        self._pieces.append(first)
        self._size += len(first)
        for piece in others:
            yield b"".join(self._pieces)
            self._pieces, self._size = [piece], len(piece)
        if self._size > self._limit:
            raise TooLong

    def rest(self) -> bytes:
        """What stands behind the last end of a line."""
        return b"".join(self._pieces)
