"""What we tell a server of ourselves, and what of its own abilities is looked at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from gatewright.agent.lsp.wire.positions import uri_of
from gatewright.agent.version import VERSION
from gatewright.tools.system.untyped_json import items, obj

_LINKS: Final = {"linkSupport": True}
CLIENT: Final[Mapping[str, object]] = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "window": {"workDoneProgress": True, "showDocument": {"support": False}},
    "workspace": {
        "applyEdit": False,
        "workspaceFolders": True,
        "configuration": True,
        "symbol": {},
        "diagnostics": {"refreshSupport": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "workspaceEdit": {"documentChanges": True},
    },
    "textDocument": {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": False},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
        "definition": _LINKS,
        "typeDefinition": _LINKS,
        "implementation": _LINKS,
        "references": {},
        "hover": {"contentFormat": ["plaintext", "markdown"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "callHierarchy": {},
        "rename": {"prepareSupport": False},
    },
}


def hello(root: str, options: object) -> dict[str, object]:
    """The parameters of `initialize`. No process id: inside its sandbox ours is nobody's."""
    uri = uri_of(root)
    return {
        "processId": None,
        "clientInfo": {"name": "gatewright", "version": VERSION},
        "rootPath": root,
        "rootUri": uri,
        "workspaceFolders": [{"uri": uri, "name": os.path.basename(root)}],  # noqa: PTH119
        "capabilities": CLIENT,
        "initializationOptions": options,
        "trace": "off",
    }


class Abilities:
    """What a server says it can do, at its start and later."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = dict(given)
        self._later: dict[str, tuple[str, dict[str, Any]]] = {}  # by id of the registration

    @property
    def encoding(self) -> str:
        said = self._given.get("positionEncoding")
        return said if said in ("utf-8", "utf-16", "utf-32") else "utf-16"

    def has(self, provider: str, method: str = "") -> bool:
        return bool(self._given.get(provider)) or any(
            each == method for each, _ in self._later.values()
        )

    @property
    def saves(self) -> bool:
        sync = self._given.get("textDocumentSync")
        return bool(obj(sync).get("save", True))

    @property
    def pulls(self) -> bool:
        return self.has("diagnosticProvider", "textDocument/diagnostic")

    @property
    def pull_name(self) -> str | None:
        """What a pull names its kind of diagnostics."""
        named = self._pulling().get("identifier")
        return named if isinstance(named, str) else None

    @property
    def pulls_others(self) -> bool:
        """Whether a change of one file may change what is found in another."""
        return bool(self._pulling().get("interFileDependencies"))

    def _pulling(self) -> dict[str, Any]:
        for method, options in self._later.values():
            if method == "textDocument/diagnostic":
                return options
        return obj(self._given.get("diagnosticProvider"))

    @property
    def watched(self) -> tuple[str, ...]:
        """The patterns of files of which it wants to hear when they change."""
        return tuple(
            pattern
            for method, options in self._later.values()
            if method == "workspace/didChangeWatchedFiles"
            for each in items(options.get("watchers"))
            if isinstance(pattern := _pattern(obj(each).get("globPattern")), str)
        )

    def register(self, params: object, most: int) -> None:
        for each in items(obj(params).get("registrations"))[:most]:
            given = obj(each)
            id, method = given.get("id"), given.get("method")
            if isinstance(id, str) and isinstance(method, str) and len(self._later) < most:
                self._later[id] = method, obj(given.get("registerOptions"))

    def unregister(self, params: object) -> None:
        for each in items(obj(params).get("unregisterations")):
            id = obj(each).get("id")
            if isinstance(id, str):
                self._later.pop(id, None)


def _pattern(given: object) -> object:
    """One that is relative to a directory names it apart."""
    return given if isinstance(given, str) else obj(given).get("pattern")
