"""What we read of the protocol: only the fields that are used, each of the type it must have."""

from __future__ import annotations

from typing import Any

import msgspec

ERROR, WARNING = 1, 2


class Position(msgspec.Struct, frozen=True):
    line: int
    character: int


class Range(msgspec.Struct, frozen=True):
    start: Position
    end: Position


class Diagnostic(msgspec.Struct, frozen=True):
    range: Range
    message: str = ""
    severity: int | None = None
    code: Any = None
    source: str | None = None

    @property
    def weight(self) -> int:
        """1 is an error, 2 a warning; one that says nothing is an error."""
        return self.severity if self.severity in (1, 2, 3, 4) else ERROR

    @property
    def same(self) -> tuple[int, str, str, str]:
        """Equal for the same finding at another line."""
        return self.weight, self.message, self.named, self.source or ""

    @property
    def named(self) -> str:
        return str(self.code)[:80] if isinstance(self.code, str | int) else ""


class Published(msgspec.Struct, frozen=True):
    uri: str
    diagnostics: tuple[Diagnostic, ...] = ()
    version: int | None = None


class Pulled(msgspec.Struct, frozen=True):
    kind: str = "full"
    items: tuple[Diagnostic, ...] = ()


class Location(msgspec.Struct, frozen=True):
    uri: str
    range: Range


class LocationLink(msgspec.Struct, frozen=True, rename="camel"):
    target_uri: str
    target_range: Range
    target_selection_range: Range | None = None


class Symbol(msgspec.Struct, frozen=True, rename="camel"):
    """Of a document as a tree, or flat, or of the workspace."""

    name: str
    kind: int = 0
    detail: str | None = None
    range: Range | None = None
    selection_range: Range | None = None
    location: SymbolPlace | None = None
    container_name: str | None = None
    children: tuple[Symbol, ...] | None = None


class SymbolPlace(msgspec.Struct, frozen=True):
    uri: str
    range: Range | None = None


class HierarchyItem(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    uri: str
    range: Range
    selection_range: Range
    kind: int = 0
    detail: str | None = None


class IncomingCall(msgspec.Struct, frozen=True, rename="camel"):
    from_: HierarchyItem = msgspec.field(name="from")
    from_ranges: tuple[Range, ...] = ()


class OutgoingCall(msgspec.Struct, frozen=True, rename="camel"):
    to: HierarchyItem
    from_ranges: tuple[Range, ...] = ()


class TextEdit(msgspec.Struct, frozen=True, rename="camel"):
    range: Range
    new_text: str


class Versioned(msgspec.Struct, frozen=True):
    uri: str
    version: int | None = None


class DocumentEdit(msgspec.Struct, frozen=True, rename="camel"):
    """One of files as such (created, renamed, deleted) has a `kind`, and is not taken."""

    kind: str = ""
    text_document: Versioned | None = None
    edits: tuple[TextEdit, ...] = ()


class WorkspaceEdit(msgspec.Struct, frozen=True, rename="camel"):
    changes: dict[str, tuple[TextEdit, ...]] | None = None
    document_changes: tuple[DocumentEdit, ...] | None = None


class Initialized(msgspec.Struct, frozen=True, rename="camel"):
    capabilities: dict[str, Any] = {}


KINDS = (
    "", "file", "module", "namespace", "package", "class", "method", "property", "field",
    "constructor", "enum", "interface", "function", "variable", "constant", "string", "number",
    "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator",
    "type parameter",
)  # fmt: skip


def kind_of(number: int) -> str:
    return KINDS[number] if 0 < number < len(KINDS) else "symbol"
