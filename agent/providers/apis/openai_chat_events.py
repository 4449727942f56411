"""The chunks of a Chat Completions stream -> pieces; what servers leave out is repaired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from gatewright.agent.providers.apis.event_reader import EventReader
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
from gatewright.agent.providers.streams.block_order import Lanes
from gatewright.agent.providers.streams.foreign_json import (
    count,
    rows,
    table,
    text,
)
from gatewright.agent.record.messages import Usage
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


class ChatReader(EventReader):
    """One answer. The usage comes after the stop reason, so the end is the stream's own end."""

    def __init__(self, model: str, who: str) -> None:
        super().__init__(model, who)
        self._lanes = Lanes()
        self._handles: dict[int, int] = {}  # the server's index -> the call's handle
        self._ids: dict[int, str] = {}
        self._reason = ""
        self._refusal: list[str] = []
        self._details: list[JsonObject] = []
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
        last = self._details[-1] if self._details else {}
        same = all(last.get(name) == detail.get(name) for name in ("type", "index"))
        if not last or not same:
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                last[name] = text(last.get(name)) + value
            elif value is not None:
                last[name] = value

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
            opaque = msgspec.json.encode(self._details).decode("utf-8")
            yield from self._lanes.thinking(ThinkingPiece(opaque=opaque))
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
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode("utf-8") if isinstance(value, dict) else ""


def usage_of(usage: JsonObject) -> Usage:
    """The API counts cached tokens among the prompt's; we keep them apart."""
    details = table(usage.get("prompt_tokens_details"))
    read = count(details.get("cached_tokens")) or count(usage.get("prompt_cache_hit_tokens"))
    written = count(details.get("cache_write_tokens"))
    prompt = count(usage.get("prompt_tokens"))
    return Usage(
        input=max(0, prompt - read - written),
        output=count(usage.get("completion_tokens")),
        cache_read=read,
        cache_write=written,
    )
