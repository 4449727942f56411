"""What a server says of itself and of its tools, as plain data: nothing of the SDK goes further.

All text in it is the server's, made printable; hints of it order and label, and never allow.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from gatewright.mcp.offered.listed import Prompt

MOST_TEXT = 2_048  # of a description, and of a server's instructions
MOST_SCHEMA = 32 * 1024
MOST_RESULT = 100_000
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_PLAIN = bytes([0x09, 0x0A, *range(0x20, 0x7F)])  # of ASCII: all that it leaves as it is
_TAG = re.compile(
    r"<(?=\s*+/?\s*(?:system[-_]reminder|server-words|function_(?:calls|results)|antml:))",
    re.IGNORECASE,
)


class Described(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool. `schema` is as the server gave it; what it hints at is only said."""

    name: str
    title: str = ""
    description: str = ""
    schema: dict[str, Any] = {}
    output: dict[str, Any] | None = None
    read_only: bool = False
    destructive: bool = True
    open_world: bool = True
    most_chars: int = 0
    always_load: bool = False
    needs_person: bool = False

    def hint(self) -> str:
        """What it says of its effects, in two words."""
        if self.read_only:
            return "reads only"
        return "may destroy" if self.destructive else "adds only"

    def beginning(self) -> str:
        """Of its description: enough to know what it is for."""
        line = (self.description or self.title).strip().partition("\n")[0]
        return line if len(line) <= 100 else f"{line[:99]}…"

    @property
    def pin(self) -> str:
        """Changes with anything a person or a model would judge it by."""
        said = msgspec.json.encode(msgspec.to_builtins(self), order="sorted")
        return hashlib.sha256(said).hexdigest()


class Hello(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was agreed with a server. `era` is the version of the protocol that is spoken."""

    era: str = ""
    server: str = ""  # its name and version
    instructions: str = ""
    tools: bool = False
    resources: bool = False
    prompts: bool = False
    subscribes: bool = False  # to single resources
    completes: bool = False  # arguments


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    tools: tuple[Described, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    left_out: tuple[str, ...] = ()  # why something is not in it


def printable(text: str, most: int = 0) -> str:
    """What would act or hide is spelled out; what imitates our own marks is no mark any more."""
    shown = text.replace("\r\n", "\n") if "\r" in text else text
    # Most texts hold nothing of that, which is found out ten times as fast as by the pattern.
    if not shown.isascii() or shown.encode("ascii").translate(None, _PLAIN):
        shown = _CONTROL.sub(lambda match: f"<U+{ord(match[0]):04X}>", shown)
    if "<" in shown:
        shown = _TAG.sub("&lt;", shown)
    return shown if not most or len(shown) <= most else f"{shown[: most - 1]}…"


def fitting(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose root is a plain object, which is all that every provider takes."""
    root = dict(schema)
    branches = [
        table for word in ("anyOf", "oneOf", "allOf") for table in _tables(root.pop(word, 0))
    ]
    properties = dict(_table(root.get("properties")))
    for branch in branches:
        for name, value in _table(branch.get("properties")).items():
            properties.setdefault(name, value)
    root["type"] = "object"
    root["properties"] = properties
    if branches:
        told = json.dumps(branches, separators=(",", ":"))[:1000]
        root["description"] = f"{root.get('description', '')} Of these forms: {told}".strip()
    return root


def _tables(value: object) -> list[dict[str, object]]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [table for each in listed if (table := _table(each))]


def _table(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
