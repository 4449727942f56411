"""Deltas as the raw stream events of the Messages API, which is what SDK readers know.

Every message opens and closes in order: message_start, blocks with start, deltas and stop, then
message_delta and message_stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from gatewright.agent.record.events import (
    AssistantMessage,
    InputDelta,
    MessageDropped,
    TextDelta,
    ThinkingDelta,
)
from gatewright.agent.record.messages import CallPart

Raw: TypeAlias = dict[str, Any]
Piece: TypeAlias = TextDelta | ThinkingDelta | InputDelta | MessageDropped


class PartialMessage:
    """Tracks which block of the current message is open."""

    def __init__(self) -> None:
        self._index = -1
        self._open = ""  # the kind of the open block, with the call's id for tools

    def pieces(self, piece: Piece) -> Iterator[Raw]:
        match piece:
            case TextDelta(text=text):
                yield from self._enter("text", {"type": "text", "text": ""})
                yield self._delta({"type": "text_delta", "text": text})
            case ThinkingDelta(text=text):
                yield from self._enter("thinking", {"type": "thinking", "thinking": ""})
                yield self._delta({"type": "thinking_delta", "thinking": text})
            case InputDelta(call_id=id, name=name, json=json):
                block: Raw = {"type": "tool_use", "id": id, "name": name, "input": {}}
                yield from self._enter(id, block)
                if json:
                    yield self._delta({"type": "input_json_delta", "partial_json": json})
            case MessageDropped():
                yield from self._leave()
                if self._index >= 0:
                    yield {"type": "message_stop"}
                self._index = -1

    def finish(self, message: AssistantMessage) -> Iterator[Raw]:
        """Close what is open: the complete message has come."""
        if self._index < 0:
            return
        yield from self._leave()
        calls = any(isinstance(part, CallPart) for part in message.parts)
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": message.usage.output},
        }
        yield {"type": "message_stop"}
        self._index = -1

    def _enter(self, block: str, start: Raw) -> Iterator[Raw]:
        if self._open == block:
            return
        yield from self._leave()
        if self._index < 0:
            yield {
                "type": "message_start",
                "message": {"type": "message", "role": "assistant", "content": []},
            }
        self._index += 1
        self._open = block
        yield {"type": "content_block_start", "index": self._index, "content_block": start}

    def _leave(self) -> Iterator[Raw]:
        if self._open:
            yield {"type": "content_block_stop", "index": self._index}
            self._open = ""

    def _delta(self, delta: Raw) -> Raw:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}
