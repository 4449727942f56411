"""Try a provider with the smallest request there is, and say how it went."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import msgspec

from gatewright.agent.clock import Clock
from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.messages import UserTurn
from gatewright.agent.providers.protocol import Provider, Request, TextPiece
from gatewright.tools.protocol import TextContent

LIMIT = 30.0
MAX_OUTPUT = 64


class Probed(msgspec.Struct, frozen=True):
    """`first` is when the answer began, in milliseconds."""

    text: str
    first: int
    total: int


async def probe(provider: Provider, model: str, clock: Clock) -> Probed:
    """Raises ProviderError, whose text says what is wrong."""
    request = Request(
        model=model,
        system=("Answer with the single word ok.",),
        tools=(),
        turns=(UserTurn((TextContent("Are you there?"),)),),
        max_output=MAX_OUTPUT,
    )
    began = clock.monotonic()
    first = 0
    words: list[str] = []
    try:
        async with asyncio.timeout(LIMIT), aclosing(provider.stream(request)) as pieces:
            async for piece in pieces:
                first = first or round((clock.monotonic() - began) * 1000)
                if isinstance(piece, TextPiece):
                    words.append(piece.text)
    except TimeoutError as error:
        raise ProviderError(FailureKind.TRANSPORT, f"No answer within {LIMIT:.0f} s.") from error
    total = round((clock.monotonic() - began) * 1000)
    return Probed("".join(words).strip(), first, total)
