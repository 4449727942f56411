"""Cuts what a server says into messages in linear time; what is too long is skipped to its end.

A header that is none ends it: where the next message begins would be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST = 16 * 1024 * 1024  # of a message; what is longer is left out
LARGEST = 1024 * 1024 * 1024  # of one that is skipped: more is no length
HEADER = 4096
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*(?:\r\n|\Z)", re.IGNORECASE)


class BadFrame(Exception):
    """It speaks no protocol of ours; the text says what came instead."""


class Frames:
    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held = bytearray()
        self._wanted = -1  # bytes of the message that still come; -1: a header comes
        self._skipping = False
        self.skipped = 0  # messages that were left out

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Every message that has ended. Raises BadFrame."""
        at = 0
        while at < len(chunk):
            if self._wanted < 0:
                at = self._header(chunk, at)
                continue
            part = chunk[at : at + self._wanted]
            at += len(part)
            self._wanted -= len(part)
            if not self._skipping:
                self._held += part
            if self._wanted == 0:
                if self._skipping:
                    self.skipped += 1
                else:
                    yield bytes(self._held)
                self._held, self._wanted, self._skipping = bytearray(), -1, False

    def _header(self, chunk: bytes, at: int) -> int:
        """Where its message begins in the chunk, if the header ends there."""
        before = len(self._held)
        self._held += chunk[at : at + HEADER]
        end = self._held.find(b"\r\n\r\n", max(0, before - 3))
        if end < 0:
            if len(self._held) > HEADER or (before == 0 and not _begins(self._held)):
                raise BadFrame(_shown(self._held))
            return at + HEADER
        found = _LENGTH.search(bytes(self._held[: end + 2]))
        if found is None or end > HEADER or int(found[1]) > LARGEST:
            raise BadFrame(_shown(self._held[:end]))
        self._held, self._wanted = bytearray(), int(found[1])
        self._skipping = self._wanted > self._most
        if self._wanted == 0:
            self._wanted = -1
        return at + end + 4 - before


def _begins(held: bytearray) -> bool:
    """Whether it may be the beginning of a header."""
    line = bytes(held).split(b"\r\n", 1)[0].lower()
    known = (b"content-length", b"content-type")
    return any(line.startswith(name) or name.startswith(line) for name in known)


def _shown(data: bytearray) -> str:
    return bytes(data[:80]).decode("utf-8", "backslashreplace").strip()


def framed(message: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(message), message)
