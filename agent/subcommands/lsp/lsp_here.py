"""The language servers that a session started here would have, without a session."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.lsp.servers_written import book_of
from gatewright.agent.extensions.lsp.starting import log_at
from gatewright.agent.extensions.plugins.plugin_extension import wanted
from gatewright.agent.extensions.plugins.plugin_session import ground_of
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.lsp.running.programs import FAMILY, LANGUAGES
from gatewright.agent.plugins.gathering import gathered
from gatewright.agent.settings.workspace import survey
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
    usable: bool
    needed: bool  # the project has files of such a kind
    lack: str = ""


class LspHere:
    """Raises GatewrightError where the current directory is gone."""

    def __init__(self) -> None:
        self.around = survey(LaunchOptions(), os.environ, interactive=False)
        plugins = gathered(ground_of(self.around)).plugins if wanted(self.around) else ()
        self._book = book_of(self.around, plugins)
        use = self.around.settings.lsp.use
        self.off = UNTRUSTED if not self.around.trusted else OFF if use == "off" else ""
        self._kinds = _suffixes(self.around.where.root)

    def rows(self) -> list[Row]:
        return [
            Row(
                name=each.definition.name,
                source=each.definition.source,
                extensions=tuple(each.definition.extension_to_language),
                command=" ".join((each.program, *each.definition.args)) if each.program else "",
                usable=not each.lack,
                needed=bool(self._kinds & each.definition.extension_to_language.keys()),
                lack=each.lack,
            )
            for each in self._book.listed()
        ]

    def lacking(self) -> list[str]:
        """Kinds of files that this project has and no server serves."""
        if self.off:
            return []
        served = {suffix for suffix in self._kinds if self._book.offered(suffix)}
        found = {FAMILY[suffix] for suffix in self._kinds - served if suffix in FAMILY}
        return sorted(found - {FAMILY[suffix] for suffix in served if suffix in FAMILY})

    def tell_faults(self) -> None:
        for fault in self._book.faults:
            tell(f"!!  {fault}")


def _suffixes(root: Path) -> set[str]:
    """Of the files in the project's own directory and one level below."""
    known = {suffix for each in LANGUAGES.values() for suffix in each}
    found: set[str] = set()
    for pattern in ("*.*", "*/*.*"):
        for _, path in zip(range(ENTRIES), root.glob(pattern), strict=False):
            if "node_modules" not in path.parts:
                found.add(path.suffix.lower())
    return found & known


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
