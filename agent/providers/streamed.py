"""A provider from an API and a wire: one request, one stream of pieces, every failure named."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from gatewright.agent.errors import FailureKind
from gatewright.agent.providers.api import Api, Reader
from gatewright.agent.providers.errors import failure, failure_of
from gatewright.agent.providers.foreign import Unreadable, decoded, table
from gatewright.agent.providers.limits import CONTENT, Meter, weight
from gatewright.agent.providers.protocol import Alive, Piece, Request
from gatewright.agent.providers.wire import Wire


class StreamedProvider:
    def __init__(self, name: str, *, api: Api, wire: Wire) -> None:
        self._name = name
        self._api = api
        self._wire = wire

    @property
    def name(self) -> str:
        return self._name

    async def close(self) -> None:
        await self._wire.close()

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        async with self._wire.exchange(self._api.body(request)) as reply:
            reader, meter = self._api.reader(request), Meter(self._name, CONTENT)
            if reply.media_type == "application/json":
                for piece in self._whole(reader, await reply.read()):
                    meter.took(weight(piece))
                    yield piece
                return
            if reply.media_type == "text/html":
                raise failure(
                    FailureKind.REFUSED, "it sent a web page; check the base URL", who=self._name
                )
            async for event in reply.events():
                pieces = list(reader.feed(event)) if event.data else []
                for piece in pieces or (Alive(),):
                    meter.took(weight(piece))
                    yield piece
            for piece in reader.end():
                yield piece

    def _whole(self, reader: Reader, body: bytes) -> list[Piece]:
        try:
            value = table(decoded(body))
        except Unreadable as error:
            raise failure(
                FailureKind.TRANSPORT, "the answer is not readable JSON", who=self._name
            ) from error
        if value.get("error"):
            raise failure_of(200, {}, body, who=self._name)
        return list(reader.whole(value))
