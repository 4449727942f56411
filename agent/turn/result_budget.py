"""A cap for all results of one message together: many calls side by side can fill a window."""

from __future__ import annotations

import msgspec

from gatewright.tools.protocol import Content, TextContent, ToolResult

CHARACTERS = 200_000
LEAST = 2_000  # what every result may have, however many there are
NOTE = (
    "\n[… {left:,} characters were left out: the results of this message together are too long. "
    "Make fewer calls at once, or narrower ones …]\n"
)


class ResultBudget:
    """One per batch of calls."""

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._left = characters

    def fit(self, result: ToolResult) -> ToolResult:
        """The result as it is, or without the middle of what does not fit any more."""
        size = sum(len(part.text) for part in result.content if isinstance(part, TextContent))
        if size <= max(self._left, LEAST):
            self._left -= size
            return result
        room = max(self._left, LEAST)
        self._left -= room
        content: list[Content] = []
        for part in result.content:
            if isinstance(part, TextContent):
                content.append(TextContent(_cut(part.text, room)))
                room = max(0, room - len(part.text))
            else:
                content.append(part)
        return msgspec.structs.replace(result, content=tuple(content))


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    head, tail = room * 2 // 3, room // 3
    end = text[-tail:] if tail else ""
    return text[:head] + NOTE.format(left=len(text) - head - tail) + end
