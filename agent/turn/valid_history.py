"""Makes any history valid for every provider, one turn at a time.

Each call has exactly one result, right behind the message that made it; results nobody asked for,
repeated ids and empty parts are gone; the first turn is the person's and roles alternate. What was
added stays the same object, so that adapters can keep what they made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    filled,
)
from gatewright.tools.protocol import INTERRUPTED, Content, ImageContent, TextContent

NO_OUTPUT = TextContent("(no output)")
CLEARED_RESULT = TextContent("(an old result, cleared to make room; make the call again if needed)")
NO_IMAGE = TextContent("(an image that the model's server refused)")


class Pairing:
    """The valid form of the turns added so far; every addition costs the same."""

    def __init__(self) -> None:
        self._out: list[Turn] = []
        self._place: dict[str, int] = {}  # call id -> where its result stands
        self._open: dict[str, int] = {}  # those whose place is held by a stand-in

    def add(self, turn: Turn) -> None:
        match turn:
            case UserTurn(content=content):
                if kept := filled(content):
                    self._add_user(turn if len(kept) == len(content) else UserTurn(kept))
            case AssistantTurn():
                self._add_assistant(turn)
            case ResultTurn(call_id=call_id):
                place = self._open.pop(call_id, None)
                if place is not None:
                    self._out[place] = _with_content(turn)

    def clear(self, call_ids: Iterable[str]) -> None:
        """Put a placeholder where these results stand."""
        for call_id in call_ids:
            place = self._place.get(call_id)
            if place is not None and call_id not in self._open:
                old = self._out[place]
                self._out[place] = msgspec.structs.replace(old, content=(CLEARED_RESULT,))

    def drop_images(self) -> None:
        """Put a note where each image stands."""
        self._out = [without_images(turn) for turn in self._out]

    def view(self) -> tuple[Turn, ...]:
        return tuple(self._out)

    def _add_user(self, turn: UserTurn) -> None:
        if self._out and isinstance(last := self._out[-1], UserTurn):
            self._out[-1] = UserTurn(last.content + turn.content)
        else:
            self._out.append(turn)

    def _add_assistant(self, turn: AssistantTurn) -> None:
        parts = self._sound(turn.parts)
        if not self._out or not any(isinstance(part, TextPart | CallPart) for part in parts):
            return
        sound = turn if len(parts) == len(turn.parts) else AssistantTurn(parts, turn.model)
        if isinstance(last := self._out[-1], AssistantTurn):
            self._out[-1] = _joined(last, sound)
        else:
            self._out.append(sound)
        for part in parts:
            if isinstance(part, CallPart):
                self._place[part.id] = self._open[part.id] = len(self._out)
                self._out.append(_stand_in(part.id))

    def _sound(self, parts: Sequence[AssistantPart]) -> tuple[AssistantPart, ...]:
        kept: list[AssistantPart] = []
        here: set[str] = set()
        for part in parts:
            if isinstance(part, TextPart) and not part.text.strip():
                continue
            if isinstance(part, CallPart):
                if not part.id or part.id in self._place or part.id in here:
                    continue
                here.add(part.id)
            kept.append(part)
        return tuple(kept)


def paired(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The valid form of a whole history."""
    pairing = Pairing()
    for turn in turns:
        pairing.add(turn)
    return pairing.view()


def without_images(turn: Turn) -> Turn:
    """With a note in place of each image; the same object where it has none."""
    if isinstance(turn, AssistantTurn) or not any(map(_is_image, turn.content)):
        return turn
    texts = tuple(NO_IMAGE if _is_image(part) else part for part in turn.content)
    return msgspec.structs.replace(turn, content=texts)


def _is_image(part: Content) -> bool:
    return isinstance(part, ImageContent)


def _stand_in(call_id: str) -> ResultTurn:
    return ResultTurn(call_id, ok=False, content=(TextContent(INTERRUPTED),))


def _with_content(turn: ResultTurn) -> ResultTurn:
    kept = filled(turn.content)
    if len(kept) == len(turn.content) and kept:
        return turn
    return msgspec.structs.replace(turn, content=kept or (NO_OUTPUT,))


def _joined(first: AssistantTurn, second: AssistantTurn) -> AssistantTurn:
    """Adjacent answers as one; thinking survives only where one model wrote both."""
    parts = first.parts + second.parts
    if first.model != second.model:
        parts = tuple(part for part in parts if not isinstance(part, ThinkingPart))
    return AssistantTurn(parts, second.model)
