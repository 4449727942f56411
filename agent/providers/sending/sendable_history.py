"""The conversation in the one shape all three APIs accept, whatever it went through.

Messages alternate and begin with the person; every call has exactly one result, right behind its
message; nothing is empty. A history that is already so passes unchanged, and appending to it
never changes what came before: the request stays a prefix of the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from gatewright.agent.providers.sending.kept_prefix import unchanged
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
from gatewright.tools.protocol import Content, TextContent
from gatewright.tools.system.patterns import later

INTERRUPTED = "The call was interrupted: it has no result."
NOTHING = "(no output)"
GO_ON = "Continue."
_OUTSIDE = later(r"[^a-zA-Z0-9_-]")
_ID_LENGTH = 64


class Result(msgspec.Struct, frozen=True):
    call_id: str
    ok: bool
    content: tuple[Content, ...]


class Heard(msgspec.Struct, frozen=True):
    """What the model gets: the results of its calls first, then what the person says."""

    results: tuple[Result, ...]
    content: tuple[Content, ...]


class Said(msgspec.Struct, frozen=True):
    """What the model wrote."""

    parts: tuple[AssistantPart, ...]


Message: TypeAlias = Heard | Said


class Gathering:
    """The turns of one conversation as alternating messages, at the cost of what is new.

    Thinking is kept only where the model asked wrote it. Thinking behind the last words of a
    message led to nothing: no API takes it there, but some gather a message's thinking in one
    field.
    """

    def __init__(self, *, keep_last_thoughts: bool = False) -> None:
        self._keep_last_thoughts = keep_last_thoughts
        self._model = ""
        self._turns: Sequence[Turn] = ()
        self._gathered: list[Message] = []
        self._results: dict[str, list[ResultTurn]] = {}
        self._settled = True  # every call has its result
        self._names = _Names()

    def messages(self, turns: Sequence[Turn], model: str) -> tuple[Message, ...]:
        known = len(self._turns)
        same = self._settled and model == self._model and unchanged(self._turns, turns) == known
        if not same:
            self._begin(model)
            known = 0
        self._add(turns[known:])
        self._turns = turns
        gathered = self._gathered
        if not gathered or isinstance(gathered[-1], Said):
            return (*gathered, Heard((), (TextContent(GO_ON),)))
        return tuple(gathered)

    def _begin(self, model: str) -> None:
        self._model, self._gathered, self._names = model, [], _Names()
        self._results, self._settled = {}, True

    def _add(self, turns: Sequence[Turn]) -> None:
        for turn in turns:
            if isinstance(turn, ResultTurn):
                self._results.setdefault(turn.call_id, []).append(turn)
        for turn in turns:
            match turn:
                case AssistantTurn():
                    said, calls = _said(turn, self._model, self._names)
                    if not self._keep_last_thoughts:
                        said = _without_last_thoughts(said)
                    if said.parts:
                        _say(self._gathered, said)
                    if calls:
                        answers = tuple(self._result(old, new) for old, new in calls)
                        self._gathered.append(Heard(answers, ()))
                case UserTurn(content=content):
                    _hear(self._gathered, filled(content))
                case ResultTurn():
                    pass  # taken up with its call; without one it belongs to nothing

    def _result(self, old: str, new: str) -> Result:
        waiting = self._results.get(old)
        if not waiting:
            self._settled = False  # it may come yet
            return Result(new, False, (TextContent(INTERRUPTED),))
        found = waiting.pop(0)  # a second call of the same id gets the second result
        return Result(new, found.ok, filled(found.content) or (TextContent(NOTHING),))


class _Names:
    """Call ids as every API accepts them, each used once."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def new(self, id: str) -> str:
        clean = _OUTSIDE.sub("_", id)[:_ID_LENGTH] or "call"
        name, number = clean, 1
        while name in self._used:
            number += 1
            name = f"{clean[: _ID_LENGTH - 8]}_{number}"
        self._used.add(name)
        return name


def _said(turn: AssistantTurn, model: str, names: _Names) -> tuple[Said, list[tuple[str, str]]]:
    parts: list[AssistantPart] = []
    calls: list[tuple[str, str]] = []
    for part in turn.parts:
        match part:
            case CallPart():
                new = names.new(part.id)
                calls.append((part.id, new))
                parts.append(msgspec.structs.replace(part, id=new))
            case TextPart(text=text):
                if text.strip():
                    parts.append(part)
            case ThinkingPart():
                if turn.model == model and (part.opaque or part.text):
                    parts.append(part)
    if all(isinstance(part, ThinkingPart) for part in parts):
        return Said(()), []  # thinking alone is no answer: it was cut
    return Said(tuple(parts)), calls


def _without_last_thoughts(said: Said) -> Said:
    parts = said.parts
    while parts and isinstance(parts[-1], ThinkingPart):
        parts = parts[:-1]
    return Said(parts)


def _say(gathered: list[Message], said: Said) -> None:
    if not gathered or isinstance(gathered[-1], Said):
        gathered.append(Heard((), (TextContent(GO_ON),)))
    gathered.append(said)


def _hear(gathered: list[Message], content: tuple[Content, ...]) -> None:
    if not content:
        return
    last = gathered[-1] if gathered else None
    if isinstance(last, Heard):
        gathered[-1] = Heard(last.results, last.content + content)
    else:
        gathered.append(Heard((), content))
