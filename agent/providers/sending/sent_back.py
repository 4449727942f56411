"""What a chat server wants back with a message besides its words: reasoning, and signed calls.

The API has no place for either, so every server made its own; `reasoning_back` of its quirks names
it. What comes from another server is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.providers.streams.foreign_json import (
    Unreadable,
    decoded,
    encoded,
    rows,
    table,
)
from gatewright.agent.record.messages import ThinkingPart
from gatewright.tools.protocol import JsonObject

_SIGNED = "calls"


def reasoning(thinking: Sequence[ThinkingPart], quirks: Quirks) -> JsonObject:
    """The field of an assistant's message that returns its reasoning."""
    match quirks.reasoning_back:
        case "" | "extra_content":
            return {}
        case "reasoning_details":
            details = [detail for part in thinking for detail in rows(_decoded(part.opaque))]
            return {"reasoning_details": details} if details else {}
        case field:
            text = "".join(part.text for part in thinking)
            return {field: text} if text else {}


def sign(calls: Sequence[JsonObject], thinking: Sequence[ThinkingPart], quirks: Quirks) -> None:
    """Return to each call the extra content it came with; a first call must have some."""
    if quirks.reasoning_back != "extra_content":
        return
    extras: JsonObject = {}
    for part in thinking:
        extras |= table(table(_decoded(part.opaque)).get(_SIGNED))
    for number, call in enumerate(calls):
        extra = table(extras.get(str(number))) or (quirks.call_extra if number == 0 else {})
        if extra:
            call["extra_content"] = extra


def signatures(extras: Mapping[int, JsonObject]) -> str:
    """The extra content of calls, by their number, as a message keeps it."""
    numbered = {str(number): extra for number, extra in extras.items()}
    return encoded({_SIGNED: numbered})


def _decoded(opaque: str) -> object:
    """Nothing, where it is another API's signature."""
    try:
        return decoded(opaque)
    except Unreadable:
        return None
