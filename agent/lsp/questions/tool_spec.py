"""The LSP tool as a model sees it."""

from __future__ import annotations

from typing import Final

from gatewright.tools.protocol import ToolSpec

LSP: Final = "LSP"
OPERATIONS: Final = (
    "goToDefinition", "goToTypeDefinition", "goToImplementation", "hover", "findReferences",
    "documentSymbol", "workspaceSymbol", "prepareCallHierarchy", "incomingCalls", "outgoingCalls",
    "diagnostics", "rename", "applyRename",
)  # fmt: skip
_LONG = """\
Ask the project's language server: exact definitions, references, types, call hierarchies, errors
and renames, where text search only guesses. Lines and characters count from 1, as Read shows them;
`symbol` may stand for `character`: the first place of that name in the line, or without a line in
the file.
- goToDefinition, goToTypeDefinition, goToImplementation, hover, findReferences,
  prepareCallHierarchy, incomingCalls, outgoingCalls: filePath, line, and character or symbol
- documentSymbol: filePath; workspaceSymbol: query (filePath says which language)
- diagnostics: of filePath, or of all open files. New errors after your own changes are told to you
  without asking
- rename: a place and newName. It changes nothing: it shows a plan; applyRename with its id as plan
  changes all its files, or none"""
_SHORT = "Ask the project's language server. Lines and characters count from 1."
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "operation": {"type": "string", "enum": list(OPERATIONS)},
        "filePath": {"type": "string"},
        "line": {"type": "integer", "minimum": 1},
        "character": {"type": "integer", "minimum": 1},
        "symbol": {"type": "string", "description": "A name, in place of character"},
        "query": {"type": "string"},
        "newName": {"type": "string"},
        "plan": {"type": "string"},
    },
    "required": ["operation"],
}


def lsp_spec(*, short: bool = False) -> ToolSpec:
    return ToolSpec(LSP, _SHORT if short else _LONG, _SCHEMA)
