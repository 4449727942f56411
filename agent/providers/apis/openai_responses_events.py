"""The events of a Responses stream -> pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gatewright.agent.errors import FailureKind
from gatewright.agent.providers.apis.event_reader import EventReader, usage_of
from gatewright.agent.providers.errors import failure, failure_in_stream
from gatewright.agent.providers.protocol import (
    Finished,
    Piece,
    StopReason,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.providers.streams.block_order import Lanes
from gatewright.agent.providers.streams.foreign_json import (
    count,
    rows,
    table,
    text,
)
from gatewright.tools.protocol import JsonObject

_INCOMPLETE = {
    "max_output_tokens": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "content_filter": StopReason.REFUSAL,
}


class ResponsesReader(EventReader):
    """One answer. `_seen` holds the output items of which something was already given out."""

    def __init__(self, model: str, who: str) -> None:
        super().__init__(model, who)
        self._lanes = Lanes(who)
        self._handles: dict[int, int] = {}  # output index -> handle of the call
        self._seen: set[int] = set()
        self._called = False
        self._refusal: list[str] = []

    def _event(self, kind: str, data: JsonObject) -> Iterable[Piece]:
        if kind == "response.output_text.delta":
            self._seen.add(count(data.get("output_index")))
            return self._lanes.text(text(data.get("delta")))
        return self._other(kind, data)

    def whole(self, body: JsonObject) -> Iterator[Piece]:
        yield from self._begin(body)
        for index, item in enumerate(map(table, rows(body.get("output")))):
            yield from self._item_done(index, item)
        yield from self._end(body)

    def end(self) -> Iterator[Piece]:
        return iter(())  # only the last event says that the answer is complete

    def _other(self, kind: str, data: JsonObject) -> Iterator[Piece]:
        index = count(data.get("output_index"))
        match kind:
            case "response.created":
                yield from self._begin(table(data.get("response")))
            case "response.output_item.added":
                yield from self._item_added(index, table(data.get("item")))
            case "response.function_call_arguments.delta":
                self._seen.add(index)
                handle = self._handles.get(index, -1)
                yield from self._lanes.arguments(handle, text(data.get("delta")))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._seen.add(index)
                yield from self._lanes.thinking(ThinkingPiece(text(data.get("delta"))))
            case "response.reasoning_summary_part.added" if index in self._seen:
                yield from self._lanes.thinking(ThinkingPiece("\n\n"))
            case "response.refusal.delta":
                self._refusal.append(text(data.get("delta")))
            case "response.output_item.done":
                yield from self._item_done(index, table(data.get("item")))
            case "response.completed" | "response.incomplete" | "response.failed":
                yield from self._end(table(data.get("response")))
            case "error":
                raise failure_in_stream(data, who=self._who)
            case _:
                pass  # a sign of life, or news we do not need

    def _item_added(self, index: int, item: JsonObject) -> Iterator[Piece]:
        yield from self._begin({})
        if item.get("type") == "function_call":
            yield from self._call(index, item)

    def _call(self, index: int, item: JsonObject) -> Iterator[Piece]:
        self._called = True
        id = text(item.get("call_id")) or text(item.get("id"))
        self._handles[index], pieces = self._lanes.start(id, text(item.get("name")))
        yield from pieces

    def _item_done(self, index: int, item: JsonObject) -> Iterator[Piece]:
        yield from self._begin({})
        match item.get("type"):
            case "message":
                yield from self._message_done(index, item)
            case "reasoning":
                yield from self._reasoning_done(index, item)
            case "function_call":
                if index not in self._handles:
                    yield from self._call(index, item)
                handle = self._handles[index]
                if index not in self._seen:
                    yield from self._lanes.arguments(handle, text(item.get("arguments")))
                yield from self._lanes.end_call(handle)
            case _:
                pass  # work of the server's own tools

    def _message_done(self, index: int, item: JsonObject) -> Iterator[Piece]:
        for part in map(table, rows(item.get("content"))):
            if part.get("type") == "refusal" and not self._refusal:
                self._refusal.append(text(part.get("refusal")))
            elif index not in self._seen:
                yield from self._lanes.text(text(part.get("text")))
        yield from self._lanes.end_block()

    def _reasoning_done(self, index: int, item: JsonObject) -> Iterator[Piece]:
        words = ""
        if index not in self._seen:
            parts = rows(item.get("summary")) or rows(item.get("content"))
            words = "\n\n".join(text(table(part).get("text")) for part in parts)
        opaque = text(item.get("encrypted_content"))
        if words or opaque:
            piece = ThinkingPiece(words, opaque, text(item.get("id")))
            yield from self._lanes.thinking(piece)
        yield from self._lanes.end_block()

    def _end(self, response: JsonObject) -> Iterator[Piece]:
        self._finished = True
        if error := response.get("error"):
            raise failure_in_stream({"error": error}, who=self._who)
        if response.get("status") == "failed":
            raise failure(FailureKind.TRANSPORT, "the answer failed", who=self._who)
        yield from self._begin(response)
        yield from self._lanes.end()
        if usage := table(response.get("usage")):
            self._usage = usage_of(usage)
        yield UsageReported(self._usage)
        yield self._reason(response)

    def _reason(self, response: JsonObject) -> Finished:
        if self._refusal:
            return Finished(StopReason.REFUSAL, "".join(self._refusal))
        if response.get("status") == "incomplete":
            why = text(table(response.get("incomplete_details")).get("reason"))
            return Finished(
                _INCOMPLETE.get(why, StopReason.OTHER), "" if why in _INCOMPLETE else why
            )
        return Finished(StopReason.CALLS if self._called else StopReason.END)
