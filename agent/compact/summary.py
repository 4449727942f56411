"""Asks the model for a summary of the conversation so far, with the prefix its cache knows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import msgspec

from gatewright.agent.compact.estimate import text_tokens, turns_tokens
from gatewright.agent.compact.keep import rounds
from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.protocol import Request
from gatewright.agent.record.clock import Clock
from gatewright.agent.record.messages import AssistantTurn, TextPart, Turn, Usage, UserTurn
from gatewright.agent.turn.answer_stream import Assembly
from gatewright.agent.turn.valid_history import paired
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent

LEAD = (
    "This conversation was longer. What follows is a summary of the part that was taken out, "
    "then what still holds. Go on from here as if nothing had been taken out: do not mention "
    "it, do not repeat what was done."
)

SHRINKS = 3  # times old rounds are left out of a request that is too long itself
SHARE = 5  # one fifth of the rounds at a time
TIME = 300.0
NO_PICTURE = TextContent("(an image or document)")


class Summary(msgspec.Struct, frozen=True):
    text: str
    usage: Usage
    cost: float


class Wish(msgspec.Struct, frozen=True):
    """What the summary should look to, how many tokens it may take and read, and whose it is."""

    instructions: str
    limit: int
    room: int
    agent: str = MAIN


async def summarise(model: OpenModel, turns: Sequence[Turn], wish: Wish, clock: Clock) -> Summary:
    """Raises ProviderError when there is no summary to be had."""
    units = _newest(rounds([_without_pictures(turn) for turn in turns]), wish.room)
    began = clock.monotonic()
    for attempt in range(SHRINKS + 1):
        try:
            return await _ask(model, [turn for unit in units for turn in unit], wish)
        except ProviderError as error:
            late = clock.monotonic() - began > TIME
            if error.kind is not FailureKind.TOO_LONG or attempt == SHRINKS or late:
                raise
            if len(units) < 2:
                raise
            units = [units[0], *units[1 + max(1, len(units) // SHARE) :]]
    raise AssertionError("the last attempt returns or raises")


def _newest(units: Sequence[tuple[Turn, ...]], room: int) -> Sequence[tuple[Turn, ...]]:
    """What fits, should a smaller model have taken over: the beginning, and from the end back.

    The beginning is the request itself, or an earlier summary.
    """
    first, rest = units[:1], units[1:]
    room -= sum(map(turns_tokens, first))
    for place in range(len(rest) - 1, -1, -1):
        room -= turns_tokens(rest[place])
        if room < 0:
            return [*first, *rest[place + 1 :]]
    return units


async def _ask(model: OpenModel, turns: Sequence[Turn], wish: Wish) -> Summary:
    frame = model.frame
    request = Request(
        model=frame.model,
        system=frame.system,
        tools=frame.tools,
        turns=_asking(turns, wish.instructions),
        max_output=min(wish.limit, frame.max_output),
        session=frame.session,
        agent=wish.agent,
    )
    assembly = Assembly(frozenset())
    try:
        async with asyncio.timeout(TIME), aclosing(model.provider.stream(request)) as pieces:
            async for piece in pieces:
                assembly.add(piece)
    except TimeoutError as error:
        raise ProviderError(FailureKind.TRANSPORT, "The summary took too long.") from error
    text = "\n\n".join(part.text for part in assembly.parts if isinstance(part, TextPart)).strip()
    if not text or assembly.reason is None:
        raise ProviderError(FailureKind.TRANSPORT, "The model sent no summary.")
    return Summary(text, assembly.usage, model.price(assembly.usage))


def _asking(turns: Sequence[Turn], instructions: str) -> tuple[Turn, ...]:
    """The history with the request for a summary at its end."""
    text = (Path(__file__).parent / "prompts" / "summary.md").read_text(encoding="utf-8")
    if instructions:
        text += f"\nThe person asks of this summary in particular: {instructions}\n"
    asked = UserTurn((TextContent(text),))
    # The oldest rounds may be missing: no request begins with an answer.
    whole = bool(turns) and isinstance(turns[0], UserTurn)
    lead = () if whole else (UserTurn((TextContent("(Earlier messages were left out.)"),)),)
    return paired((*lead, *turns, asked))


def _without_pictures(turn: Turn) -> Turn:
    """They cost much and say nothing in a summary."""
    if isinstance(turn, AssistantTurn):
        return turn
    if all(isinstance(part, TextContent) for part in turn.content):
        return turn
    texts = tuple(part if isinstance(part, TextContent) else NO_PICTURE for part in turn.content)
    return msgspec.structs.replace(turn, content=texts)


def opening(summary: str, words: Sequence[str], state: Sequence[str]) -> str:
    """What a summarised conversation begins with: summary, the person's words, and the state."""
    parts = [LEAD, summary]
    if words:
        quoted = "\n\n".join(f"<message>\n{text}\n</message>" for text in words)
        parts.append(f"# What the person said, word for word, oldest first\n\n{quoted}")
    parts += state
    return "\n\n".join(parts)


def fitting(sections: Sequence[str], limit: int) -> tuple[str, ...]:
    """The sections that fit, in order of importance; one too large for what is left is skipped."""
    kept: list[str] = []
    for text in sections:
        size = text_tokens(text)
        if size <= limit:
            kept.append(text)
            limit -= size
    return tuple(kept)
