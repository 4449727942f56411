"""How bytes travel to a model server and back; adapters know nothing else of the network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec


class Answer(Protocol):
    """An HTTP answer whose body has not been read yet. Header names are in lower case."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def chunks(self) -> AsyncIterator[bytes]: ...


class Transport(Protocol):
    """Raises `ProviderError` of kind TRANSPORT only; leaving the context ends the exchange."""

    def send(
        self, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> AbstractAsyncContextManager[Answer]:
        """POST a JSON body, or GET when there is none."""
        ...

    async def warm(self, url: str) -> None:
        """Have a connection there for the next request; what fails is told by that request."""
        ...

    async def close(self) -> None: ...


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds. `idle` is the last resort: the loop's watchdog gives up long before."""

    connect: float = 15.0
    write: float = 60.0
    idle: float = 600.0
    kept: float = 90.0  # a router may have forgotten an older connection, and nobody would tell
