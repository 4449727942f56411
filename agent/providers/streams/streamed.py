"""A provider from an API and a wire: one request, one stream of pieces, every failure named."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing

from gatewright.agent.errors import FailureKind, ProviderError, UnknownModel
from gatewright.agent.providers.api import Api
from gatewright.agent.providers.apis.event_reader import EventReader
from gatewright.agent.providers.carrier import Wire
from gatewright.agent.providers.protocol import Alive, Piece, Request, TextPiece
from gatewright.agent.providers.streams.answer_limits import CONTENT, Meter, weight
from gatewright.agent.providers.streams.foreign_json import Unreadable, decoded, table
from gatewright.agent.providers.streams.sse import Sse

NEAR = 3
TOGETHER = 8  # events that came at once, from which their text is one piece
Offered = Callable[[], Awaitable[tuple[str, ...]]]


async def _unlisted() -> tuple[str, ...]:
    """A server that cannot be asked for its models."""
    return ()


class StreamedProvider:
    """`offered` lists the server's models; it is asked when one is not known there."""

    def __init__(self, name: str, *, api: Api, wire: Wire, offered: Offered = _unlisted) -> None:
        self._name = name
        self._offered = offered
        self._api = api
        self._wire = wire

    @property
    def name(self) -> str:
        return self._name

    async def warm(self) -> None:
        await self._wire.warm()

    async def close(self) -> None:
        await self._wire.close()

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        try:
            async with aclosing(self._pieces(request)) as pieces:
                async for piece in pieces:
                    yield piece
        except UnknownModel as error:
            raise await self._with_near(error, request.model) from error

    async def _with_near(self, error: UnknownModel, model: str) -> UnknownModel:
        """Which names it may have meant, by the server's own list."""
        text, which = f"{self._name} knows no model {model} ({error.status}).", "one"
        names = await self._offered()
        if model in names:
            which = "another"
            text = (
                f"{self._name} lists {model} and yet does not find it ({error.status}): this API "
                "or this key may not reach it."
            )
        elif near := _near(model, names):
            text += f" It has {', '.join(near)}"
            text += f" and {len(names) - len(near)} more." if len(names) > len(near) else "."
        return UnknownModel(
            error.kind, f"{text} Choose {which} with --model or /model.", status=error.status
        )

    async def _pieces(self, request: Request) -> AsyncGenerator[Piece]:
        async with self._wire.exchange(self._api.body(request)) as reply:
            reader, meter = self._api.reader(request), Meter(self._name, CONTENT)
            if reply.media_type == "application/json":
                for piece in self._whole(reader, await reply.read()):
                    meter.took(weight(piece))
                    yield piece
                return
            if reply.media_type == "text/html":
                at = f" at {tried.base}{tried.path}" if (tried := self._wire.tried) else ""
                text = f"{self._name} sent a web page{at}. Check the base URL."
                raise ProviderError(FailureKind.REFUSED, text)
            async for events in reply.events():
                pieces = _pieces_of(reader, events)
                for piece in _joined(pieces) if len(events) > TOGETHER else pieces:
                    meter.took(weight(piece))
                    yield piece
            for piece in reader.end():
                meter.took(weight(piece))
                yield piece

    def _whole(self, reader: EventReader, body: bytes) -> list[Piece]:
        try:
            value = table(decoded(body))
        except Unreadable as error:
            from gatewright.agent.providers.errors import failure  # noqa: PLC0415  lazy: 1 ms

            raise failure(
                FailureKind.TRANSPORT, "the answer is not readable JSON", who=self._name
            ) from error
        if value.get("error"):
            from gatewright.agent.providers.errors import failure_of  # noqa: PLC0415  lazy: 1 ms

            raise failure_of(200, {}, body, who=self._name)
        return list(reader.whole(value))


def _pieces_of(reader: EventReader, events: Sequence[Sse]) -> Iterator[Piece]:
    for event in events:
        yield from (list(reader.feed(event)) if event.data else ()) or (Alive(),)


def _joined(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Text that only goes on is one piece."""
    text: list[str] = []
    try:
        for piece in pieces:
            if isinstance(piece, TextPiece):
                text.append(piece.text)
                continue
            if text:
                yield TextPiece("".join(text))
                text.clear()
            yield piece
    except ProviderError:
        if text:
            yield TextPiece("".join(text))
        raise
    if text:
        yield TextPiece("".join(text))


def _near(model: str, names: Sequence[str]) -> list[str]:
    """The closest names first; a short list is given whole."""
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 5 ms, after a wrong name only

    by_case = {name.lower(): name for name in names}
    found = [
        by_case[name] for name in get_close_matches(model.lower(), by_case, n=NEAR, cutoff=0.4)
    ]
    return found or (list(names) if len(names) <= NEAR else [])
