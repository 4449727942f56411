"""The language servers that a session started here would have, without a session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.lsp.servers_written import book_of
from gatewright.agent.extensions.lsp.starting import log_at
from gatewright.agent.extensions.plugins.plugin_extension import wanted
from gatewright.agent.extensions.plugins.plugin_session import ground_of
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.lsp.running.programs import FAMILY, kinds_of
from gatewright.agent.lsp.running.server_book import Listed
from gatewright.agent.plugins.gathering import gathered
from gatewright.agent.settings.workspace import survey
from gatewright.agent.subcommands.lsp.lsp_try import tried
from gatewright.agent.subcommands.tell import tell
from gatewright.mcp.serverlog import ServerLog

ENTRIES = 2000  # of the project that are looked at for kinds of files
UNTRUSTED = "The project is not trusted, so none is started here: agent trust add."
OFF = "lsp.use is off in the settings."


class Row(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    source: str
    extensions: tuple[str, ...]
    command: str
    usable: bool  # its program is there
    used: bool  # a session starts it for files of some kind: no other stands before it
    needed: bool  # the project has files of such a kind
    lack: str = ""
    begins: bool | None = None  # None: it was not tried
    told: str = ""  # how it went


class LspHere:
    """Raises GatewrightError where the current directory is gone."""

    def __init__(self) -> None:
        self.around = survey(LaunchOptions(), os.environ, interactive=False)
        plugins = gathered(ground_of(self.around)).plugins if wanted(self.around) else ()
        self._book = book_of(self.around, plugins)
        use = self.around.settings.lsp.use
        self.off = UNTRUSTED if not self.around.trusted else OFF if use == "off" else ""
        self._kinds = _kinds_in(self.around.where.root, self._book.kinds)

    def rows(self) -> list[Row]:
        return [
            self._row(
                each, {k for k in each.definition.extension_to_language if self._used(each, k)}
            )
            for each in self._book.listed()
        ]

    def _used(self, listed: Listed, kind: str) -> bool:
        return any(each.name == listed.definition.name for each in self._book.offered(kind))

    def tried(self) -> list[Row]:
        """The rows, and of those that this project needs whether they begin."""
        rows = self.rows()
        wanted = {row.name for row in rows if row.used and row.needed and not self.off}
        offered = {
            each.name: each
            for kind in self._kinds
            for each in self._book.offered(kind)
            if each.name in wanted
        }
        found = asyncio.run(tried(self.around, tuple(offered.values())))
        return [
            msgspec.structs.replace(row, begins=not one.why, told=one.told())
            if (one := found.get(row.name))
            else row
            for row in rows
        ]

    def _row(self, each: Listed, used: set[str]) -> Row:
        given = each.definition
        kinds = given.extension_to_language
        return Row(
            name=given.name,
            source=given.source,
            extensions=tuple(kinds),
            command=" ".join((each.program, *given.args)) if each.program else "",
            usable=not each.lack,
            used=bool(used),
            needed=bool(self._kinds & (used or kinds.keys())),
            lack=each.lack,
        )

    def lacking(self) -> list[str]:
        """Kinds of files that this project has and no server serves."""
        if self.off:
            return []
        served = {suffix for suffix in self._kinds if self._book.offered(suffix)}
        found = {FAMILY[suffix] for suffix in self._kinds - served if suffix in FAMILY}
        return sorted(found - {FAMILY[suffix] for suffix in served if suffix in FAMILY})

    @property
    def faults(self) -> Sequence[str]:
        return self._book.faults

    def tell_faults(self) -> None:
        for fault in self.faults:
            tell(f"!!  {fault}")


def _kinds_in(root: Path, known: Collection[str]) -> set[str]:
    """Of the files in the project's own directory and one level below."""
    found: set[str] = set()
    for pattern in ("*", "*/*"):
        for _, path in zip(range(ENTRIES), root.glob(pattern), strict=False):
            if "node_modules" not in path.parts:
                found.update(kinds_of(path.name))
    return found & set(known)


def log_of(name: str) -> str | None:
    """None where there is none. Raises GatewrightError."""
    around = survey(LaunchOptions(), os.environ, interactive=False)
    path = log_at(around.places.home, name)
    if not path.is_file():
        return None
    try:
        return ServerLog(path).tail()
    except OSError as error:
        raise GatewrightError(f"{path} cannot be read: {error.strerror}.") from error
