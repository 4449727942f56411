"""Answers of a judge, kept: by the exact bytes that were asked, so a changed input has none."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec

from gatewright.agent.errors import FailureKind, GatewrightError, ProviderError
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import (
    BlockEnded,
    Finished,
    Piece,
    Provider,
    Request,
    StopReason,
    TextPiece,
    UsageReported,
)
from gatewright.agent.providers.registry import Opened
from gatewright.agent.record.messages import Usage

CHANGED = "no answer is kept for these bytes: the rules, the lists or the case changed"


class Answerer(msgspec.Struct, frozen=True):
    """Who answered, and what of it shapes a request: the first line of a file."""

    model: str
    facts: ModelFacts


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    key: str
    text: str
    usage: Usage = Usage()
    reason: StopReason = StopReason.END


def key_of(request: Request) -> str:
    """Of all that a judge is asked; who is asked is said once, at the head of a file."""
    asked = (request.system, request.turns, request.max_output, request.schema)
    return hashlib.blake2b(msgspec.json.encode(asked), digest_size=16).hexdigest()


class Replaying:
    """Structurally a provider: answers from a file, and refuses what is not in it."""

    name = "replay"

    def __init__(self, path: Path) -> None:
        try:
            first, *lines = path.read_bytes().splitlines()
            self.asked = msgspec.json.decode(first, type=Answerer)
            self._kept = {each.key: each for each in map(_decoded, filter(None, lines))}
        except OSError as error:
            raise GatewrightError(f"{path} cannot be read: {error.strerror or error}.") from error
        except (ValueError, msgspec.DecodeError) as error:
            raise GatewrightError(f"{path} holds no answers: {error}.") from error
        self.missing = 0

    def opened(self) -> Opened:
        """As if the one that answered were asked again."""
        return Opened(self, self.asked.model, self.asked.facts, self.asked.model)

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        kept = self._kept.get(key_of(request))
        if kept is None:
            self.missing += 1
            raise ProviderError(FailureKind.REFUSED, CHANGED)
        for piece in _pieces(kept):
            yield piece

    async def close(self) -> None:
        return


class Keeping:
    """Structurally a provider: asks another one, and keeps its whole answers."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.name = provider.name
        self.kept: dict[str, Kept] = {}

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        text: list[str] = []
        usage, reason = Usage(), StopReason.OTHER
        async for piece in self._provider.stream(request):
            match piece:
                case TextPiece(text=part):
                    text.append(part)
                case UsageReported(usage=usage):
                    pass
                case Finished(reason=reason):
                    key = key_of(request)
                    self.kept[key] = Kept(key, "".join(text), usage, reason)
                case _:
                    pass
            yield piece

    def save(self, path: Path, asked: Answerer) -> None:
        lines = [self.kept[key] for key in sorted(self.kept)]
        path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in (asked, *lines)))

    async def close(self) -> None:
        await self._provider.close()


def _decoded(line: bytes) -> Kept:
    return msgspec.json.decode(line, type=Kept)


def _pieces(kept: Kept) -> list[Piece]:
    return [TextPiece(kept.text), BlockEnded(), UsageReported(kept.usage), Finished(kept.reason)]
