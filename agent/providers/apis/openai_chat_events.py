"""The chunks of a Chat Completions stream -> pieces; what servers leave out is repaired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from gatewright.agent.providers.apis.event_reader import EventReader, usage_of
from gatewright.agent.providers.errors import failure_in_stream
from gatewright.agent.providers.protocol import (
    BlockEnded,
    Finished,
    Piece,
    StopReason,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.providers.sending.sent_back import signatures
from gatewright.agent.providers.streams.answer_limits import CONTENT, Meter
from gatewright.agent.providers.streams.block_order import Lanes
from gatewright.agent.providers.streams.foreign_json import (
    encoded,
    rows,
    table,
    text,
)
from gatewright.tools.protocol import JsonObject

_REASONS = {
    "stop": StopReason.END,
    "eos": StopReason.END,
    "tool_calls": StopReason.CALLS,
    "function_call": StopReason.CALLS,
    "length": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSAL,
}

_JOINED = ("text", "summary", "data")
DETAIL = 128  # what keeping one costs besides


class ChatReader(EventReader):
    """One answer. The usage comes after the stop reason, so the end is the stream's own end."""

    def __init__(self, model: str, who: str) -> None:
        super().__init__(model, who)
        self._lanes = Lanes(who)
        self._handles: dict[int, int] = {}  # the server's index -> the call's handle
        self._ids: dict[int, str] = {}
        self._reason = ""
        self._refusal: list[str] = []
        self._details: list[JsonObject] = []  # words of one are a list of pieces
        self._held = Meter(who, CONTENT, "of reasoning details")
        self._extras: dict[int, JsonObject] = {}  # by the number of the call

    def _event(self, kind: str, data: JsonObject) -> Iterable[Piece]:
        del kind
        return self._chunk(data)

    def _done(self) -> Iterable[Piece]:
        return self._finish()

    def whole(self, body: JsonObject) -> Iterator[Piece]:
        yield from self._chunk(body)
        yield from self._finish()

    def end(self) -> Iterator[Piece]:
        if self._reason and not self._finished:
            yield from self._finish()

    def _chunk(self, data: JsonObject) -> Iterator[Piece]:
        if error := data.get("error"):
            raise failure_in_stream({"error": error}, who=self._who)
        yield from self._begin(data)
        choice = table(next(iter(rows(data.get("choices"))), None))
        yield from self._delta(table(choice.get("delta")) or table(choice.get("message")))
        if reason := text(choice.get("finish_reason")):
            self._reason = reason
        usage = table(data.get("usage")) or table(table(data.get("x_groq")).get("usage"))
        if usage:
            self._usage = usage_of(usage)
            yield UsageReported(self._usage)

    def _delta(self, delta: JsonObject) -> Iterator[Piece]:
        if not delta:
            return
        yield from self._reasoning(delta)
        content = delta.get("content")
        if isinstance(content, str):
            yield from self._lanes.text(content)
        elif content:
            for part in map(table, rows(content)):
                yield from self._part(part)
        if refusal := text(delta.get("refusal")):
            self._refusal.append(refusal)
        for position, call in enumerate(map(table, rows(delta.get("tool_calls")))):
            yield from self._call(call, position)

    def _part(self, part: JsonObject) -> Iterator[Piece]:
        """Content given as parts: text and thinking."""
        if part.get("type") == "thinking":
            for inner in map(table, rows(part.get("thinking"))):
                yield from self._think(text(inner.get("text")))
        else:
            yield from self._lanes.text(text(part.get("text")))

    def _reasoning(self, delta: JsonObject) -> Iterator[Piece]:
        for detail in map(table, rows(delta.get("reasoning_details"))):
            self._add_detail(detail)
        words = text(delta.get("reasoning_content")) or text(delta.get("reasoning"))
        yield from self._think(words)

    def _think(self, words: str) -> Iterator[Piece]:
        if words:
            yield from self._lanes.thinking(ThinkingPiece(words))

    def _add_detail(self, detail: JsonObject) -> None:
        """Details of one kind and index are pieces of one whole."""
        self._held.took(DETAIL + len(encoded(detail)))
        last: JsonObject = self._details[-1] if self._details else {}
        same = all(last.get(name) == detail.get(name) for name in ("type", "index"))
        if not last or not same:
            last = {}
            self._details.append(last)
        for name, value in detail.items():
            if name in _JOINED and isinstance(value, str):
                last[name] = rows(last.get(name)) or []
                last[name].append(value)
            elif name not in last or (value is not None and name not in _JOINED):
                last[name] = None if name in _JOINED else value

    def _call(self, call: JsonObject, position: int) -> Iterator[Piece]:
        function = table(call.get("function"))
        id, name = text(call.get("id")), text(function.get("name"))
        index = call.get("index")
        key = index if isinstance(index, int) else self._guess(id, name, position)
        new_id = bool(id and self._ids.get(key) and id != self._ids[key])
        if key not in self._handles or (new_id and name):
            self._handles[key], pieces = self._lanes.start(id, name)
            self._ids[key] = id
            yield from pieces
        else:
            self._lanes.rename(self._handles[key], id, name)
        if extra := table(call.get("extra_content")):
            self._extras[self._handles[key]] = extra
        yield from self._lanes.arguments(self._handles[key], _arguments(function.get("arguments")))

    def _guess(self, id: str, name: str, position: int) -> int:
        """No index: the call of that id, a new one where there is a name, else the latest."""
        known = next((key for key, seen in self._ids.items() if id and seen == id), None)
        if known is not None:
            return known
        if name or not self._handles:
            return max(self._handles, default=-1) + 1
        return max(self._handles) if position == 0 else position

    def _finish(self) -> Iterator[Piece]:
        self._finished = True
        if not self._started:
            return
        if self._details:
            for detail in self._details:
                detail |= {
                    name: "".join(detail[name]) for name in _JOINED if rows(detail.get(name))
                }
            yield from self._lanes.thinking(ThinkingPiece(opaque=encoded(self._details)))
        yield from self._lanes.end()
        if self._extras:
            yield ThinkingPiece(opaque=signatures(self._extras))
            yield BlockEnded()
        yield UsageReported(self._usage)
        if self._refusal:
            yield Finished(StopReason.REFUSAL, "".join(self._refusal))
        elif self._reason:
            yield Finished(
                _REASONS.get(self._reason, StopReason.OTHER),
                "" if self._reason in _REASONS else self._reason,
            )
        else:
            yield Finished(StopReason.END)


def _arguments(value: Any) -> str:
    """Some servers send an object where the API has its JSON text."""
    return encoded(cast("JsonObject", value)) if isinstance(value, dict) else text(value)
