"""A provider from an API and a transport: one POST, one stream of events, every failure named."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping

import msgspec

from gatewright.agent.errors import FailureKind
from gatewright.agent.providers.api import Api, Reader
from gatewright.agent.providers.errors import failure, failure_of
from gatewright.agent.providers.foreign import table
from gatewright.agent.providers.protocol import Piece, Request
from gatewright.agent.providers.sse import EventTooLong, SseReader
from gatewright.agent.providers.transport.port import Answer, Transport

_ERROR_LIMIT = 64 * 1024
_WHOLE_LIMIT = 32 * 1024 * 1024


class StreamedProvider:
    """`headers` are asked for at every request: a key may come from a helper and may change."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        api: Api,
        transport: Transport,
        headers: Callable[[], Awaitable[Mapping[str, str]]],
    ) -> None:
        self._name = name
        self._url = base_url.rstrip("/") + api.path
        self._api = api
        self._transport = transport
        self._headers = headers

    @property
    def name(self) -> str:
        return self._name

    async def close(self) -> None:
        await self._transport.close()

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        body = msgspec.json.encode(self._api.body(request))
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            **await self._headers(),
        }
        async with self._transport.send(self._url, headers, body) as answer:
            if answer.status != 200:
                said = await read_all(answer, _ERROR_LIMIT)
                raise failure_of(answer.status, answer.headers, said, who=self._name)
            reader = self._api.reader(request)
            kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind == "application/json":
                for piece in self._whole(reader, await read_all(answer, _WHOLE_LIMIT)):
                    yield piece
                return
            if kind == "text/html":
                raise failure(
                    FailureKind.REFUSED,
                    f"{self._url} answers with a web page; check the base URL",
                    who=self._name,
                )
            async for piece in self._events(answer, reader):
                yield piece

    async def _events(self, answer: Answer, reader: Reader) -> AsyncIterator[Piece]:
        sse = SseReader()
        try:
            async for chunk in answer.chunks():
                for event in sse.feed(chunk):
                    for piece in reader.feed(event):
                        yield piece
        except EventTooLong as error:
            raise failure(FailureKind.TRANSPORT, str(error), who=self._name) from error
        for event in sse.end():
            for piece in reader.feed(event):
                yield piece
        for piece in reader.end():
            yield piece

    def _whole(self, reader: Reader, body: bytes) -> list[Piece]:
        try:
            value = table(msgspec.json.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise failure(
                FailureKind.TRANSPORT, "the answer is not readable JSON", who=self._name
            ) from error
        if value.get("error"):
            raise failure_of(200, {}, body, who=self._name)
        return list(reader.whole(value))


async def read_all(answer: Answer, limit: int) -> bytes:
    """The body up to a limit; what lies beyond is not waited for."""
    parts: list[bytes] = []
    size = 0
    async for chunk in answer.chunks():
        parts.append(chunk)
        size += len(chunk)
        if size >= limit:
            break
    return b"".join(parts)[:limit]
