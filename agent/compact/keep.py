"""Chooses what of a history stays word for word when the rest is summarised. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gatewright.agent.compact.budget import Budget
from gatewright.agent.compact.estimate import text_tokens, turns_tokens
from gatewright.agent.record.messages import AssistantTurn, ResultTurn, TextPart, Turn, UserTurn
from gatewright.tools.protocol import TextContent

TEXTS = 5  # so many messages with words stay at least, while there is room
CUT = "\n[… the middle of this message was left out …]\n"


class Kept(msgspec.Struct, frozen=True):
    """`recent` is the end of the history, `words` what the person said before it."""

    words: tuple[str, ...]
    recent: tuple[Turn, ...]
    dropped: int  # turns that only the summary tells of


def choose(turns: Sequence[Turn], words: Sequence[str], budget: Budget) -> Kept:
    recent = _recent(rounds(turns), budget)
    here = {
        part.text
        for turn in recent
        if isinstance(turn, UserTurn)
        for part in turn.content
        if isinstance(part, TextContent)
    }
    earlier = list(words)
    while earlier and earlier[-1] in here:
        earlier.pop()
    return Kept(_newest(earlier, budget.words), recent, len(turns) - len(recent))


def rounds(turns: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """What must not be parted: an answer stays with the results of its calls."""
    found: list[tuple[Turn, ...]] = []
    for turn in turns:
        if isinstance(turn, ResultTurn) and found:
            found[-1] = (*found[-1], turn)
        else:
            found.append((turn,))
    return found


def _recent(units: Sequence[tuple[Turn, ...]], budget: Budget) -> tuple[Turn, ...]:
    taken: list[tuple[Turn, ...]] = []
    tokens = texts = 0
    for unit in reversed(units):
        size = turns_tokens(unit)
        if tokens + size > budget.recent_most:
            break
        if tokens >= budget.recent_least and texts >= TEXTS:
            break
        taken.append(unit)
        tokens += size
        texts += _has_words(unit[0])
    return tuple(turn for unit in reversed(taken) for turn in unit)


def _has_words(turn: Turn) -> bool:
    match turn:
        case UserTurn():
            return True
        case AssistantTurn(parts=parts):
            return any(isinstance(part, TextPart) for part in parts)
        case ResultTurn():
            return False


def _newest(words: Sequence[str], limit: int) -> tuple[str, ...]:
    """The last ones that fit; the very last always, without its middle if it must be."""
    kept: list[str] = []
    left = limit
    for text in reversed(words):
        size = text_tokens(text)
        if size > left and not kept:
            text, size = _shortened(text, limit), limit
        if size <= left:  # a short correction behind a long paste is worth keeping
            kept.append(text)
            left -= size
    return tuple(reversed(kept))


def _shortened(text: str, limit: int) -> str:
    """Both ends of a text, within a number of tokens even where each character is one."""
    per_token = max(1.0, len(text) / max(1, text_tokens(text)))
    half = max(1, int(limit * per_token * 0.9) // 2 - len(CUT))
    return text[:half] + CUT + text[-half:]
