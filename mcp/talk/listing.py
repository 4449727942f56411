"""Lists of a server, checked item by item, and its tools as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import mcp_types as types
import msgspec
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from gatewright.mcp.described import (
    MOST_RESULT,
    MOST_SCHEMA,
    MOST_TEXT,
    Described,
    fitting,
    printable,
)

MOST = 8 * 1024 * 1024  # bytes of all tools together
MOST_ITEMS = 2_000  # of a page that are looked at
MOST_NAME = 256
_LISTS: Mapping[str, str] = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_AROUND = ("resultType", "ttlMs", "cacheScope")  # what the newer era wants beside a list


def kept(method: str, version: str, raw: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The answer with the items that the protocol of that version has, and how many are none."""
    key = _LISTS.get(method, "")
    given: object = raw.get(key)
    if not isinstance(given, list):
        return raw, 0
    listed = cast("list[object]", given)
    around = {name: raw[name] for name in _AROUND if name in raw}  # it is read once for each item
    looked = listed[:MOST_ITEMS]
    good = [item for item in looked if _reads(method, version, {**around, key: [item]})]
    return {**raw, key: good}, len(listed) - len(good)


def _reads(method: str, version: str, answer: dict[str, Any]) -> bool:
    try:
        validate_server_result(method, version, answer)
    except ValidationError:
        return False
    return True


def described(tool: types.Tool) -> Described | str:
    """The tool, or why it is left out."""
    name = tool.name
    schema = dict(tool.input_schema)
    try:
        size = len(msgspec.json.encode(schema))
    except (msgspec.MsgspecError, TypeError, RecursionError, UnicodeEncodeError):
        return f"{items(name)}: its schema cannot be read"
    if not 0 < len(name) <= MOST_NAME or items(name) != name:
        return f"{items(name)}: its name cannot be told as it is"
    if size > MOST_SCHEMA:
        return f"{items(name)}: its schema is larger than {MOST_SCHEMA // 1024} KiB"
    hints = tool.annotations or types.ToolAnnotations()
    meta: Mapping[str, Any] = tool.meta or {}
    most: object = meta.get("anthropic/maxResultSizeChars")
    read_only = hints.read_only_hint is True
    return Described(
        name=name,
        title=items(tool.title or hints.title or "")[:100],
        description=printable(tool.description or "", MOST_TEXT),
        schema=_clean(fitting(schema)),
        output=_output(tool.output_schema),
        read_only=read_only,
        destructive=not read_only and hints.destructive_hint is not False,
        open_world=hints.open_world_hint is not False,
        most_chars=min(most, MOST_RESULT) if isinstance(most, int) and most > 0 else 0,
        always_load=meta.get("anthropic/alwaysLoad") is True,
        needs_person=meta.get("anthropic/requiresUserInteraction") is True,
    )


def _output(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """What results are checked against; one that is too large is none."""
    try:
        fits = schema and len(msgspec.json.encode(schema)) <= MOST_SCHEMA
    except (msgspec.MsgspecError, TypeError, RecursionError, UnicodeEncodeError):
        fits = False
    return dict(schema) if schema and fits else None


def _clean(value: object) -> Any:
    """Every text of a schema printable: a model reads them all."""
    match value:
        case str():
            return printable(value)
        case dict():
            table = cast("dict[str, Any]", value)
            return {key: _clean(item) for key, item in table.items()}
        case list():
            return [_clean(item) for item in cast("list[object]", value)]
        case _:
            return value


def items(text: str) -> str:
    """A server's words in a sentence of ours."""
    return " ".join(printable(text, 300).split())
