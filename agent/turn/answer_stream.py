"""Pieces of an answer -> delta events as they come, and one complete message at the end.

Per piece the work is constant: text gathers in lists, a call's JSON is parsed once, when complete.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, assert_never

from gatewright.agent.providers.protocol import (
    Alive,
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    MessageStarted,
    Piece,
    Queued,
    StopReason,
    TextPiece,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.providers.streams.foreign_json import Unreadable, decoded
from gatewright.agent.record.events import AnyEvent, InputDelta, TextDelta, ThinkingDelta
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.messages import AssistantPart, CallPart, TextPart, ThinkingPart, Usage
from gatewright.agent.text.well_formed import Seam, well_formed

BEGINNING = 100_000  # characters: a tenth of the longest answer there is


class Assembly:
    """One answer being received. `taken` are the call ids the conversation already uses."""

    def __init__(self, taken: AbstractSet[str]) -> None:
        self.id = ""
        self.model = ""
        self.usage = Usage()
        self.reason: StopReason | None = None
        self.detail = ""
        self._taken = taken
        self._parts: list[AssistantPart] = []
        self._text: list[str] = []
        self._thinking: list[ThinkingPiece] = []
        self._call: tuple[str, str] | None = None
        self._json: list[str] = []
        self._seam = Seam()  # of what is shown; what is kept is joined as a whole

    @property
    def parts(self) -> tuple[AssistantPart, ...]:
        """The complete parts."""
        return tuple(self._parts)

    def partial(self) -> tuple[AssistantPart, ...]:
        """What is worth keeping of a cut answer: text as far as it came, never half a call."""
        self._end_text()
        return tuple(part for part in self._parts if isinstance(part, TextPart))

    def beginning(self) -> tuple[AssistantPart, ...]:
        """The first of `partial`: of an answer without an end no more than a model can be told."""
        kept: list[AssistantPart] = []
        left = BEGINNING
        for part in self.partial():
            if isinstance(part, TextPart) and left > 0:
                kept.append(TextPart(part.text[:left]))
                left -= len(part.text)
        return tuple(kept)

    def add(self, piece: Piece) -> AnyEvent | None:
        """Take one piece; returns what there is to show."""
        match piece:
            case TextPiece(text=text):
                if not text:
                    return None
                self._end_thinking()
                self._text.append(text)
                shown = self._seam.add(text)
                return TextDelta(text=shown) if shown else None
            case ThinkingPiece(text=text):
                self._thinking.append(piece)
                shown = self._seam.add(text)
                return ThinkingDelta(text=shown) if shown else None
            case CallStarted():
                self._end_block()
                self._call = (self._free_id(well_formed(piece.id)), well_formed(piece.name))
                return InputDelta(call_id=self._call[0], name=piece.name, json="")
            case InputPiece(json=json):
                return self._add_input(json)
            case _:
                self._note(piece)
                return None

    def _note(
        self, piece: BlockEnded | MessageStarted | UsageReported | Alive | Queued | Finished
    ) -> None:
        """Take a piece that there is nothing to show of."""
        match piece:
            case BlockEnded():
                self._end_block()
            case MessageStarted():
                self.id, self.model = well_formed(piece.id), piece.model
            case UsageReported(usage=usage):
                self.usage = usage
            case Finished():
                self._end_block()
                self.reason, self.detail = piece.reason, well_formed(piece.detail)
            case Alive() | Queued():
                pass
            case _:
                assert_never(piece)

    def _add_input(self, json: str) -> AnyEvent | None:
        if self._call is None or not json:
            return None
        self._json.append(json)
        call_id, name = self._call
        return InputDelta(call_id=call_id, name=name, json=self._seam.add(json))

    def _free_id(self, wanted: str) -> str:
        """Some servers send no id, or the same one in every answer."""
        used = any(isinstance(part, CallPart) and part.id == wanted for part in self._parts)
        if wanted and not used and wanted not in self._taken:
            return wanted
        return f"call_{new_id().replace('-', '')}"

    def _end_block(self) -> None:
        self._end_thinking()
        self._end_text()
        if self._call is not None:
            self._parts.append(parsed_call(*self._call, "".join(self._json)))
            self._call = None
            self._json = []

    def _end_text(self) -> None:
        self._seam = Seam()
        if self._text:
            self._parts.append(TextPart(well_formed("".join(self._text))))
            self._text = []

    def _end_thinking(self) -> None:
        if not self._thinking:
            return
        pieces, self._thinking = self._thinking, []
        self._parts.append(
            ThinkingPart(
                text=well_formed("".join(piece.text for piece in pieces)),
                opaque=well_formed("".join(piece.opaque for piece in pieces)),
                id=well_formed(next((piece.id for piece in pieces if piece.id), "")),
                redacted=any(piece.redacted for piece in pieces),
            )
        )


def parsed_call(id: str, name: str, json: str) -> CallPart:
    """The call with its input; arguments that are no JSON object are kept as they came."""
    json = well_formed(json)
    if not json.strip():
        return CallPart(id, name, {})
    try:
        value: Any = decoded(json)
    except Unreadable:
        return CallPart(id, name, {}, malformed=json)
    if not isinstance(value, dict):
        return CallPart(id, name, {}, malformed=json)
    return CallPart(id, name, value)  # pyright: ignore[reportUnknownArgumentType]
