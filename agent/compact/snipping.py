"""Which rounds the person means to cut out of the model's view, and what that frees. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gatewright.agent.compact.estimate import turns_tokens
from gatewright.agent.compact.micro import CLEARABLE, LEAST
from gatewright.agent.compact.rounds import Cut
from gatewright.agent.errors import SessionError
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events_of_past import Snipped
from gatewright.agent.record.messages import AssistantTurn, CallPart, ResultTurn, Turn, UserTurn
from gatewright.tools.protocol import TextContent

USAGE = "Usage: /snip [N | FROM-TO | last N | tool results | undo]"
NOTHING = "There is no finished round to cut since the last summary or /clear."
SMALL = "No result of a tool is large enough to cut that the model could look up again."
ALREADY = "That is cut out already: /snip undo takes the last cut back."


class Round(msgspec.Struct, frozen=True):
    number: int
    text: str  # how the person's input begins
    tokens: int
    cut: bool = False


def rounds_of(talk: Conversation) -> list[Round]:
    """Those that are finished, oldest first. Used while no turn runs."""
    open_calls = {call.id for call in talk.dangling()}
    if talk.waiting is not None:
        open_calls.add(talk.waiting.id)
    found: list[Round] = []
    for number in range(1, talk.rounds.count + 1):
        turns = talk.rounds.of_round(number)
        if open_calls.isdisjoint(_calls(turns)):
            cut = number in talk.rounds.cut.rounds
            found.append(Round(number, _begins(turns), turns_tokens(turns), cut))
    return found


def snipped(talk: Conversation, wish: str) -> Snipped:
    """What happens then. Raises SessionError: nothing, or what is not understood."""
    words = wish.lower().replace("\u2013", "-").split()
    now = talk.rounds.cut
    if words == ["undo"]:
        if (before := talk.rounds.before) is None:
            raise SessionError("Nothing was cut since the last summary or /clear.")
        return _event(talk, before, undo=True)
    rounds = rounds_of(talk)
    if not rounds:
        raise SessionError(NOTHING)
    if words == ["tool", "results"]:
        results = now.results | _results(talk, [each.number for each in rounds])
        cut = Cut(now.rounds, results)
    else:
        cut = Cut(now.rounds | _meant(words, [each.number for each in rounds]), now.results)
    if cut == now:
        raise SessionError(ALREADY if now.rounds or now.results else SMALL)
    return _event(talk, cut)


def _meant(words: Sequence[str], numbers: Sequence[int]) -> frozenset[int]:
    """Raises SessionError."""
    first, last = numbers[0], numbers[-1]
    match words:
        case ["last", count] if _is_number(count) and int(count):
            return frozenset(numbers[-int(count) :])
        case [one] if _is_number(one):
            begin = end = int(one)
        case [span] if all(map(_is_number, parts := span.split("-"))) and len(parts) == 2:
            begin, end = map(int, parts)
        case _:
            raise SessionError(USAGE)
    if not first <= begin <= end <= last:
        raise SessionError(f"There are rounds {first} to {last}; /snip alone lists them.")
    meant = frozenset(number for number in numbers if begin <= number <= end)
    if not meant:
        raise SessionError("That round is not finished: a call of it waits.")
    return meant


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 9


def _event(talk: Conversation, cut: Cut, *, undo: bool = False) -> Snipped:
    freed = turns_tokens(talk.view()) - turns_tokens(talk.rounds.seen(cut))
    rounds, results = tuple(sorted(cut.rounds)), tuple(sorted(cut.results))
    return Snipped(rounds=rounds, results=results, tokens=freed, undo=undo)


def _results(talk: Conversation, numbers: Sequence[int]) -> frozenset[str]:
    """Of calls that can be made again, where a placeholder is shorter."""
    found: set[str] = set()
    for number in numbers:
        turns = talk.rounds.of_round(number)
        names = _calls(turns)
        found.update(
            turn.call_id
            for turn in turns
            if isinstance(turn, ResultTurn)
            and names.get(turn.call_id) in CLEARABLE
            and turns_tokens([turn]) > LEAST
        )
    return frozenset(found)


def _calls(turns: Sequence[Turn]) -> dict[str, str]:
    answers = (turn for turn in turns if isinstance(turn, AssistantTurn))
    parts = (part for turn in answers for part in turn.parts)
    return {part.id: part.name for part in parts if isinstance(part, CallPart)}


def _begins(turns: Sequence[Turn]) -> str:
    """The last text of the first inputs: notices come before what the person said."""
    said = ""
    for turn in turns:
        if not isinstance(turn, UserTurn):
            break
        said = next((p.text for p in turn.content if isinstance(p, TextContent)), said)
    return " ".join(said.split())
