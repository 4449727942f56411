"""The files that a server has open: their versions, and what changed since it was told.

What `Texts` says is the truth; no text is kept here. From reading a file to sending it nothing is
awaited, so versions and texts go out in their order whoever changes files meanwhile.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from gatewright.agent.lsp.texts import Stamp, Texts
from gatewright.agent.lsp.wire.positions import uri_of

MOST = 50
Notify: TypeAlias = Callable[[str, object], None]


class Open(msgspec.Struct):
    path: str
    uri: str
    language: str
    version: int
    stamp: Stamp


class Documents:
    """`sent` hears of each text that went out, `shut` of each file that was closed."""

    def __init__(
        self,
        notify: Notify,
        sent: Callable[[str, int], None],
        shut: Callable[[str], None],
        *,
        saves: bool = True,
        texts: Texts | None = None,
    ) -> None:
        self.texts = texts or Texts()
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
        found = self.texts.text_of(path)
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
        """Send what changed, whoever changed it; which files that were."""
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
        return known is not None and self.texts.stamp_of(path) == known.stamp

    def _renewed(self, each: Open) -> bool:
        if self.texts.stamp_of(each.path) == each.stamp:
            return True
        found = self.texts.text_of(each.path)
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
        if self._saves and not self.texts.unsaved(each.path):
            self._notify("textDocument/didSave", {"textDocument": {"uri": each.uri}})
        return True

    def close(self, path: str) -> None:
        if (known := self._open.pop(path, None)) is not None:
            self._shut(known.uri)
            self._notify("textDocument/didClose", {"textDocument": {"uri": known.uri}})

    def close_all(self) -> None:
        for path in self.paths:
            self.close(path)
