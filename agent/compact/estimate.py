"""How many tokens something takes, guessed from its size; exact counts come with each answer.

Guesses err to the high side: too early a summary costs little, too late a one costs the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import assert_never

import msgspec

from gatewright.agent.record.messages import (
    AssistantPart,
    AssistantTurn,
    CallPart,
    ResultTurn,
    TextPart,
    ThinkingPart,
    Turn,
    UserTurn,
)
from gatewright.tools.protocol import Content, TextContent, ToolSpec

IMAGE = 1600  # what the largest image a model takes costs
DOCUMENT_BYTES = 12  # base64 characters of a document for one token
MESSAGE = 4  # what each message costs besides its words
MARGIN = 1.1


@cache
def _wide() -> re.Pattern[str]:
    """Scripts without spaces, and emoji."""
    return re.compile(
        "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U0001f000-\U0003ffff]"
    )


def text_tokens(text: str) -> int:
    """A token is about four letters, or one Chinese, Japanese or Korean character."""
    if text.isascii() or not any("\u1100" <= c <= "\u11ff" or c >= "\u2e80" for c in set(text)):
        return (len(text) + 3) // 4  # the pattern takes 2 ms to compile, and "…" is in every prompt
    wide = len(_wide().findall(text))
    return (len(text) - wide + 3) // 4 + wide


def json_tokens(value: object) -> int:
    """JSON is denser than prose: two characters for a token."""
    return (len(msgspec.json.encode(value)) + 1) // 2


def content_tokens(content: Iterable[Content]) -> int:
    total = 0
    for part in content:
        if isinstance(part, TextContent):
            total += text_tokens(part.text)
        elif part.media_type.startswith("image/"):
            total += IMAGE
        else:
            total += len(part.data) // DOCUMENT_BYTES
    return total


def part_tokens(part: AssistantPart) -> int:
    match part:
        case TextPart(text=text):
            return text_tokens(text)
        case ThinkingPart(text=text, opaque=opaque):
            return text_tokens(text) + len(opaque) // 4
        case CallPart(name=name, input=input):
            return text_tokens(name) + json_tokens(input) + MESSAGE
        case _:
            assert_never(part)


def turn_tokens(turn: Turn) -> int:
    match turn:
        case UserTurn(content=content) | ResultTurn(content=content):
            return content_tokens(content) + MESSAGE
        case AssistantTurn(parts=parts):
            return sum(part_tokens(part) for part in parts) + MESSAGE
        case _:
            assert_never(turn)


def turns_tokens(turns: Iterable[Turn]) -> int:
    return sum(turn_tokens(turn) for turn in turns)


def tool_tokens(tools: Sequence[ToolSpec]) -> int:
    return sum(text_tokens(tool.description) + json_tokens(tool.schema) + 8 for tool in tools)


def with_margin(tokens: int) -> int:
    """For a history no answer has counted yet."""
    return round(tokens * MARGIN)
