"""What a call came to, as parts that whoever runs tools makes fit for a model."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any, cast

import mcp_types as types
import msgspec

from gatewright.mcp.described import Described, printable
from gatewright.mcp.schemas import mismatch
from gatewright.mcp.talk.listing import items
from gatewright.tools.protocol import JsonObject, Part, RawFile, RawImage, TextContent, ToolResult

NOTHING = "(The tool returned nothing.)"
MOST_DATA = 100_000  # characters of structured data that are kept beside the text
MOST_PARTS = 100  # of one answer


def result_of(given: types.CallToolResult, tool: Described, cap: int) -> ToolResult:
    """Every text is printable, every picture and file in its place, and the rest named."""
    parts = list(parts_of(given.content))
    data = given.structured_content
    told = any(isinstance(part, TextContent) and part.text for part in parts)
    said = "" if data is None else _json(data)
    if data is not None and not told:
        parts.append(TextContent(printable(said)))
    if tool.output is not None and not given.is_error:
        if data is None:
            parts.append(TextContent("[Its definition promises structured data, there is none.]"))
        elif why := mismatch(tool.output, data):
            parts.append(TextContent(f"[Its data is not as its definition says: {why}]"))
    if not parts:
        parts.append(TextContent(NOTHING))
    return ToolResult(
        ok=not given.is_error,
        parts=tuple(parts),
        data=cast("JsonObject", data) if isinstance(data, dict) and len(said) <= MOST_DATA else {},
        summary="failed" if given.is_error else "",
        cap=tool.most_chars or cap,
    )


def parts_of(blocks: Iterable[object]) -> tuple[Part, ...]:
    """The first of them; what is beyond is counted and left out."""
    every = list(blocks)
    found = [part for block in every[:MOST_PARTS] for part in _parts(block)]
    if (more := len(every) - MOST_PARTS) > 0:
        found.append(TextContent(f"[{more:,} more parts of the answer were left out.]"))
    return tuple(found)


def _parts(block: object) -> Iterator[Part]:
    match block:
        case types.TextContent(text=text):
            yield TextContent(printable(text))
        case types.ImageContent(data=data):
            yield RawImage(data)
        case types.AudioContent(data=data, mime_type=kind):
            yield _file(data, f"[Sound, {items(kind)}]", "audio")
        case types.ResourceLink(uri=uri, name=name, description=about, mime_type=kind):
            words = ": ".join(filter(None, (items(name), items(about or ""))))
            more = f" ({items(kind)})" if kind else ""
            yield TextContent(f"[Resource {words}{more}: {items(str(uri))}]")
        case types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, text=text)):
            yield TextContent(f"[Resource {items(str(uri))}]\n{printable(text)}")
        case types.EmbeddedResource(resource=types.BlobResourceContents(blob=blob) as resource):
            kind = resource.mime_type or ""
            if kind.startswith("image/"):
                yield RawImage(blob, items(str(resource.uri)))
            else:
                yield _file(blob, f"[Resource {items(str(resource.uri))}, {items(kind)}]", "blob")
        case _:
            yield TextContent("[Something that cannot be shown.]")


def _file(data: str, said: str, kind: str) -> Part:
    try:
        return RawFile(base64.b64decode(data, validate=True), said, kind)
    except (binascii.Error, ValueError):
        return TextContent(f"{said} cannot be read: it is no base64.")


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
