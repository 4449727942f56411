"""The files that a server has open: their versions, and what changed on disk since it was told.

What lies on disk is the truth; no text is kept. From reading a file to sending it nothing is
awaited, so versions and texts go out in their order whoever changes files meanwhile.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from gatewright.agent.lsp.wire.positions import uri_of
from gatewright.tools.system.exact import real_path
from gatewright.tools.system.regular import read_regular

MOST, LARGEST = 50, 2 * 1024 * 1024
Stamp: TypeAlias = tuple[int, int, int]
Notify: TypeAlias = Callable[[str, object], None]


class Open(msgspec.Struct):
    path: str
    uri: str
    language: str
    version: int
    stamp: Stamp


def stamp_of(path: str) -> Stamp | None:
    """Changes when the file does; None where there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def text_of(path: str) -> tuple[str, Stamp] | None:
    """What it holds with its stamp; None for what is no text, too large, or a link by now."""
    before = stamp_of(path)
    try:
        if before is None or before[1] > LARGEST or real_path(path) != path:
            return None
        data = read_regular(Path(path), LARGEST, follow=False)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return (text, before) if stamp_of(path) == before else None


class Documents:
    """`sent` hears of each text that went out, `shut` of each file that was closed."""

    def __init__(
        self,
        notify: Notify,
        sent: Callable[[str, int], None],
        shut: Callable[[str], None],
        *,
        saves: bool = True,
    ) -> None:
        self._notify, self._sent, self._shut, self._saves = notify, sent, shut, saves
        self._open: OrderedDict[str, Open] = OrderedDict()
        self._versions = 0  # of all files: one that is opened again has no old number

    @property
    def paths(self) -> Sequence[str]:
        return tuple(self._open)

    def get(self, path: str) -> Open | None:
        return self._open.get(path)

    def open(self, path: str, language: str) -> bool:
        """Whether the server has its text now. A changed file is sent anew."""
        if path in self._open:
            self._open.move_to_end(path)
            return self._renewed(self._open[path])
        found = text_of(path)
        if found is None:
            return False
        text, stamp = found
        while len(self._open) >= MOST:
            self.close(next(iter(self._open)))
        self._versions += 1
        made = Open(path, uri_of(path), language, self._versions, stamp)
        self._open[path] = made
        self._sent(made.uri, made.version)
        item = {
            "uri": made.uri, "languageId": language, "version": made.version, "text": text,
        }  # fmt: skip
        self._notify("textDocument/didOpen", {"textDocument": item})
        return True

    def renew(self) -> tuple[str, ...]:
        """Send what changed on disk, whoever changed it; which files that were."""
        before = {path: each.version for path, each in self._open.items()}
        for each in tuple(self._open.values()):
            self._renewed(each)
        now = {path: each.version for path, each in self._open.items()}
        return tuple(path for path in now if now[path] != before[path])

    def beside(self, changes: Sequence[tuple[str, int]]) -> None:
        """Tell of others that were created, changed or deleted."""
        told = [{"uri": uri_of(path), "type": kind} for path, kind in changes]
        self._notify("workspace/didChangeWatchedFiles", {"changes": told})

    def current(self, path: str) -> bool:
        """Whether the file is as the server has it."""
        known = self._open.get(path)
        return known is not None and stamp_of(path) == known.stamp

    def _renewed(self, each: Open) -> bool:
        if stamp_of(each.path) == each.stamp:
            return True
        found = text_of(each.path)
        if found is None:  # gone, no text any more, or changing right now: opened at the next edit
            self.close(each.path)
            return False
        text, each.stamp = found
        self._versions += 1
        each.version = self._versions
        self._sent(each.uri, each.version)
        who = {"uri": each.uri, "version": each.version}
        changes = [{"text": text}]
        self._notify("textDocument/didChange", {"textDocument": who, "contentChanges": changes})
        if self._saves:
            self._notify("textDocument/didSave", {"textDocument": {"uri": each.uri}})
        return True

    def close(self, path: str) -> None:
        if (known := self._open.pop(path, None)) is not None:
            self._shut(known.uri)
            self._notify("textDocument/didClose", {"textDocument": {"uri": known.uri}})

    def close_all(self) -> None:
        for path in self.paths:
            self.close(path)
