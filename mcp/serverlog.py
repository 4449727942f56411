"""What a server says beside the protocol: kept in a file of bounded size, and its last lines.

Always drained and never on a terminal. Its last lines may be told, and are made printable then.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from pathlib import Path

from gatewright.mcp.described import printable
from gatewright.tools.system import private

MOST = 1024 * 1024  # of a file; there are two
LAST = 5
LINE = 300
TAIL, LINES = 64 * 1024, 200  # of the file, for people who look at it


class ServerLog:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = -1
        self._last: deque[bytes] = deque(maxlen=LAST)
        self._open = b""

    def add(self, data: bytes) -> None:
        """A part of a stream, not always a whole line."""
        if not data:
            return
        *whole, rest = (self._open + data[-4 * LAST * LINE :]).split(b"\n")
        self._last.extend(line[:LINE] for line in whole if line.strip())
        self._open = rest[-LINE:]
        with suppress(OSError):  # a full disk does not stop a server
            self._write(data)

    def begin(self) -> None:
        """A new run of the server: what it said before is not its last word any more."""
        self._last.clear()
        self._open = b""

    def last(self) -> str:
        """Its last words, each on a line."""
        lines = [*self._last, *([self._open] if self._open.strip() else [])][-LAST:]
        return printable("\n".join(line.decode("utf-8", "replace").rstrip() for line in lines))

    def tail(self) -> str:
        """The end of the file, made inert; empty where there is none. Raises OSError."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - TAIL))
                lines = file.read(TAIL).decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return ""
        whole = lines[1:] if size > TAIL and len(lines) > 1 else lines  # the first one is cut
        return "\n".join(printable(line.rstrip(), LINE) for line in whole[-LINES:])

    def _write(self, data: bytes) -> None:
        if self._size < 0:
            private.folder(self.path.parent)
            self._size = self.path.stat().st_size if self.path.exists() else 0
        data = data[-MOST:]
        if self._size + len(data) > MOST:
            self.path.replace(self.path.with_suffix(".old.log"))
            self._size = 0
        with open(self.path, "ab", opener=private.opener) as file:
            file.write(data)
        self._size += len(data)
