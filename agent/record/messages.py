"""The conversation in the form every provider adapter converts from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from gatewright.tools.protocol import Content, JsonObject, TextContent


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Token counts of one response. `input` leaves out what the cache served or stored."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def plus(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    def less(self, other: Usage) -> Usage:
        return Usage(
            max(0, self.input - other.input),
            max(0, self.output - other.output),
            max(0, self.cache_read - other.cache_read),
            max(0, self.cache_write - other.cache_write),
        )

    @property
    def context(self) -> int:
        """Tokens the request and its answer occupy in the model's window."""
        return self.input + self.cache_read + self.cache_write + self.output


class TextPart(msgspec.Struct, frozen=True, tag_field="kind", tag="text"):
    text: str


class ThinkingPart(
    msgspec.Struct, frozen=True, tag_field="kind", tag="thinking", omit_defaults=True
):
    """Reasoning as the provider wants it back; `opaque` is its signature or encrypted form."""

    text: str
    opaque: str = ""
    id: str = ""
    redacted: bool = False


class CallPart(msgspec.Struct, frozen=True, tag_field="kind", tag="call", omit_defaults=True):
    """A tool call; `malformed` keeps arguments that were no JSON object, answered with an error."""

    id: str
    name: str
    input: JsonObject
    malformed: str = ""


AssistantPart: TypeAlias = TextPart | ThinkingPart | CallPart


class UserTurn(msgspec.Struct, frozen=True, tag_field="kind", tag="user"):
    content: tuple[Content, ...]


class AssistantTurn(msgspec.Struct, frozen=True, tag_field="kind", tag="assistant"):
    """`model` says who wrote it: another model's thinking is not sent back."""

    parts: tuple[AssistantPart, ...]
    model: str = ""


class ResultTurn(msgspec.Struct, frozen=True, tag_field="kind", tag="result"):
    """The result of one call."""

    call_id: str
    ok: bool
    content: tuple[Content, ...]


Turn: TypeAlias = UserTurn | AssistantTurn | ResultTurn


def filled(content: Iterable[Content]) -> tuple[Content, ...]:
    """Without texts that say nothing, which no API takes."""
    return tuple(part for part in content if not isinstance(part, TextContent) or part.text.strip())
