"""The events of a Messages API stream -> pieces; lenient where compatible servers are careless."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.apis.event_reader import EventReader
from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    Piece,
    StopReason,
    TextPiece,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.providers.streams.foreign_json import (
    count,
    encoded,
    rows,
    table,
    text,
)
from gatewright.agent.record.messages import Usage
from gatewright.tools.protocol import JsonObject

_REASONS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "tool_use": StopReason.CALLS,
    "max_tokens": StopReason.LENGTH,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSE,
}
_FULL = "model_context_window_exceeded"


class MessagesReader(EventReader):
    """One answer. A block that is open says what the next delta belongs to."""

    def __init__(self, model: str, who: str) -> None:
        super().__init__(model, who)
        self._block = ""
        self._start: JsonObject = {}
        self._echo = Echo()
        self._had_input = False
        self._signed = False
        self._reason = ""
        self._detail = ""

    def _event(self, kind: str, data: JsonObject) -> Iterable[Piece]:
        if kind == "content_block_delta":
            return self._delta(table(data.get("delta")))
        return self._other(kind, data)

    def whole(self, body: JsonObject) -> Iterator[Piece]:
        yield from self._begin(body)
        for block in map(table, rows(body.get("content"))):
            yield from self._open(block)
            yield from self._close()
        self._note_stop(body)
        yield from self._finish()

    def end(self) -> Iterator[Piece]:
        if self._reason and not self._finished:
            yield from self._finish()

    def _other(self, kind: str, data: JsonObject) -> Iterator[Piece]:
        match kind:
            case "content_block_start":
                yield from self._close()
                yield from self._open(table(data.get("content_block")))
            case "content_block_stop":
                yield from self._close()
            case "message_start":
                yield from self._begin(table(data.get("message")))
            case "message_delta":
                self._note_stop(table(data.get("delta")))
                self._count(table(data.get("usage")))
                yield UsageReported(self._usage)
            case "message_stop":
                yield from self._finish()
            case "error":
                from gatewright.agent.providers.errors import failure_in_stream  # noqa: PLC0415  lazy: 1 ms

                raise failure_in_stream(data, who=self._who)
            case _:
                pass  # a ping, or news of a later version

    def _begin(self, message: JsonObject) -> Iterator[Piece]:
        yield from super()._begin(message)
        self._count(table(message.get("usage")))
        yield UsageReported(self._usage)

    def _open(self, block: JsonObject) -> Iterator[Piece]:
        if not self._started:
            yield from self._begin({})
        self._block = text(block.get("type"))
        self._start = block
        self._had_input = self._signed = False
        match self._block:
            case "text":
                self._echo = Echo(text(block.get("text")))
            case "thinking":
                self._echo = Echo(text(block.get("thinking")))
            case "redacted_thinking":
                yield ThinkingPiece(opaque=text(block.get("data")), redacted=True)
            case "tool_use":
                yield CallStarted(text(block.get("id")), text(block.get("name")))
            case _:
                self._block = ""  # server-side tools: nothing we asked for

    def _delta(self, delta: JsonObject) -> tuple[Piece, ...]:
        match delta.get("type"):
            case "text_delta" if self._block == "":
                return (*self._open({"type": "text"}), *self._delta(delta))  # nobody opened it
            case "text_delta" if self._block == "text":
                new = self._echo.delta(text(delta.get("text")))
                return (TextPiece(new),) if new else ()
            case "input_json_delta" if self._block == "tool_use":
                part = text(delta.get("partial_json"))
                self._had_input = self._had_input or bool(part)
                return (InputPiece(part),) if part else ()
            case "thinking_delta" if self._block == "thinking":
                new = self._echo.delta(text(delta.get("thinking")))
                return (ThinkingPiece(new),) if new else ()
            case "signature_delta" if self._block == "thinking":
                self._signed = True
                return (ThinkingPiece(opaque=text(delta.get("signature"))),)
            case _:
                return ()

    def _close(self) -> Iterator[Piece]:
        block, self._block = self._block, ""
        match block:
            case "text":
                if held := self._echo.end():
                    yield TextPiece(held)
            case "thinking":
                if held := self._echo.end():
                    yield ThinkingPiece(held)
                signature = text(self._start.get("signature"))
                if signature and not self._signed:
                    yield ThinkingPiece(opaque=signature)
            case "tool_use":
                given = table(self._start.get("input"))
                if given and not self._had_input:
                    yield InputPiece(encoded(given))
            case "":
                return
            case _:
                pass
        yield BlockEnded()

    def _finish(self) -> Iterator[Piece]:
        if not self._started:
            yield from self._begin({})
        yield from self._close()
        self._finished = True
        if self._reason == _FULL:
            raise ProviderError(
                FailureKind.TOO_LONG, "The conversation filled the model's window in mid-answer."
            )
        reason = _REASONS.get(self._reason, StopReason.OTHER if self._reason else StopReason.END)
        yield UsageReported(self._usage)
        yield Finished(reason, self._detail)

    def _note_stop(self, delta: JsonObject) -> None:
        if reason := text(delta.get("stop_reason")):
            self._reason = reason
        details = table(delta.get("stop_details"))
        if said := text(details.get("explanation")) or text(details.get("category")):
            self._detail = said
        elif self._reason not in _REASONS:
            self._detail = self._reason

    def _count(self, usage: JsonObject) -> None:
        """Counts are cumulative; a report names only what it knows."""
        before = self._usage

        def latest(name: str, known: int) -> int:
            return count(usage[name]) if isinstance(usage.get(name), int) else known

        self._usage = Usage(
            input=latest("input_tokens", before.input),
            output=latest("output_tokens", before.output),
            cache_read=latest("cache_read_input_tokens", before.cache_read),
            cache_write=latest("cache_creation_input_tokens", before.cache_write),
        )


class Echo:
    """Some servers give a block's first words at its start and again in its deltas.

    Holds those of the start until the deltas show whether they repeat them.
    """

    def __init__(self, start: str = "") -> None:
        self._start = start
        self._at = 0  # how much of it was repeated

    def delta(self, text: str) -> str:
        """What is new with this delta."""
        if not self._start:
            return text
        start, at = self._start, self._at
        if at + len(text) < len(start) and start.startswith(text, at):
            self._at += len(text)
            return ""
        repeated = text.startswith(start[at:])
        self._start, self._at = "", 0
        return start[:at] + text if repeated else start + start[:at] + text

    def end(self) -> str:
        """What was held and never came again."""
        held, self._start, self._at = self._start, "", 0
        return held
