"""What a provider needs of whatever carries its requests: one body out, events back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from gatewright.agent.errors import FailureKind
from gatewright.agent.providers.sending.encoded import Encoded
from gatewright.agent.providers.streams.answer_limits import CONTENT, STREAM, Meter
from gatewright.agent.providers.streams.sse import EventTooLong, Sse, SseReader
from gatewright.agent.providers.transport.port import Answer, Transport
from gatewright.agent.providers.tried import Tried
from gatewright.tools.protocol import JsonObject

_ERROR_LIMIT = 64 * 1024


class Reply(Protocol):
    """A successful answer. Read either its events or, when it is one document, all of it."""

    @property
    def media_type(self) -> str: ...
    def events(self) -> AsyncIterator[Sequence[Sse]]:
        """Those that came together."""
        ...

    async def read(self) -> bytes: ...


class Wire(Protocol):
    """Raises `ProviderError` only, also for every status but success."""

    @property
    def tried(self) -> Tried | None:
        """Where requests go, if a person set that."""
        ...

    def exchange(self, body: JsonObject) -> AbstractAsyncContextManager[Reply]: ...
    async def warm(self) -> None:
        """Have a connection for the next request, where that takes time; never raises."""
        ...

    async def close(self) -> None: ...


class HttpReply:
    def __init__(self, answer: Answer, who: str) -> None:
        self._answer = answer
        self._who = who

    @property
    def media_type(self) -> str:
        return media_type(self._answer.headers.get("content-type", ""))

    async def events(self) -> AsyncIterator[Sequence[Sse]]:
        reader, meter = SseReader(), Meter(self._who, STREAM)
        try:
            async for chunk in self._answer.chunks():
                meter.took(len(chunk))
                events = list[Sse]()
                try:
                    events.extend(reader.feed(chunk))
                finally:
                    if events:
                        yield events
        except EventTooLong as error:
            from gatewright.agent.providers.errors import failure  # noqa: PLC0415  lazy: 1 ms

            raise failure(FailureKind.REFUSED, f"it sent {error}", who=self._who) from error
        if events := list(reader.end()):
            yield events

    async def read(self) -> bytes:
        meter = Meter(self._who, CONTENT)
        parts: list[bytes] = []
        async for chunk in self._answer.chunks():
            meter.took(len(chunk))
            parts.append(chunk)
        return b"".join(parts)


class HeaderSource(Protocol):
    """Asked at every request: a key may come from a helper and may change."""

    async def current(self) -> Mapping[str, str]: ...
    def refused(self) -> None:
        """The server did not accept the key of these headers."""
        ...


class HttpWire:
    def __init__(
        self,
        name: str,
        *,
        tried: Tried,
        transport: Transport,
        headers: HeaderSource,
    ) -> None:
        self._name = name
        self.tried = tried
        self._transport = transport
        self._headers = headers
        self._encoded = Encoded()

    @asynccontextmanager
    async def exchange(self, body: JsonObject) -> AsyncGenerator[HttpReply]:
        encoded = self._encoded.encode(body)
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            **await self._headers.current(),
        }
        async with self._transport.send(
            self.tried.base + self.tried.path, headers, encoded
        ) as answer:
            if answer.status != 200:
                said = await read_all(answer, _ERROR_LIMIT)
                if answer.status == 401:
                    self._headers.refused()
                from gatewright.agent.providers.errors import failure_of  # noqa: PLC0415  lazy: 1 ms

                raise failure_of(
                    answer.status, answer.headers, said, who=self._name, tried=self.tried
                )
            yield HttpReply(answer, self._name)

    async def warm(self) -> None:
        await self._transport.warm(self.tried.base + self.tried.path)

    async def close(self) -> None:
        await self._transport.close()


def media_type(header: str) -> str:
    return header.partition(";")[0].strip().lower()


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
