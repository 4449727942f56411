"""Lines that a judge reads: one JSON object each, which no text in it can end or forge."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from gatewright.tools.protocol import JsonObject

LONGEST = 4_096  # characters of one text of a call
FIELDS = 40
DEPTH = 4
# By tool: what only tells of a call. Of any other tool such a field may be what it sends.
SAID: Mapping[str, frozenset[str]] = {
    "Bash": frozenset({"description"}),
    "Monitor": frozenset({"description"}),
    "Agent": frozenset({"description"}),
}
# What could end the frame around a line, or be read in another order than it is written.
_MARKS = re.compile(
    "[<>&\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef]"
)


def line(entry: Mapping[str, object]) -> str:
    """On one line of printable text; what is marked up in it is spelled out."""
    try:
        encoded = msgspec.json.encode(entry).decode("utf-8", "replace")
    except UnicodeEncodeError:  # half a character, which is spelled out too
        encoded = json.dumps(entry, default=str)
    return _MARKS.sub(_escaped, encoded)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def meant(tool: str, input: Mapping[str, object]) -> JsonObject:
    """The input of a call without what is only said of it."""
    said = SAID.get(tool, frozenset())
    return {name: value for name, value in input.items() if name not in said}


def what_it_does(tool: str, input: Mapping[str, object]) -> JsonObject:
    """What of the input has an effect, every text within its limit."""
    kept = list(meant(tool, input).items())
    found = {str(name)[:100]: _bounded(value, DEPTH) for name, value in kept[:FIELDS]}
    if len(kept) > FIELDS:
        found["…"] = f"{len(kept) - FIELDS} more fields"
    return found


def cut(text: str, most: int = LONGEST) -> str:
    """Its beginning and its end: what is in between is counted, so nothing hides behind length."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}[… {len(text) - 2 * half} characters not shown …]{text[-half:]}"


def _bounded(value: object, depth: int) -> object:
    match value:
        case str():
            return cut(value)
        case dict() if depth:
            fields = list(cast("dict[object, object]", value).items())[:FIELDS]
            return {str(name)[:100]: _bounded(each, depth - 1) for name, each in fields}
        case list() | tuple() if depth:
            each_of = cast("Sequence[object]", value)
            some = [_bounded(each, depth - 1) for each in each_of[:FIELDS]]
            more = len(each_of) - FIELDS
            return [*some, f"… and {more} more"] if more > 0 else some
        case None | bool() | int() | float():
            return value
        case _:
            return cut(str(value))
