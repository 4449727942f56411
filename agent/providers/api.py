"""What a model API is to us: two pure conversions, of a request and of the events of an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from gatewright.agent.providers.protocol import Piece, Request
from gatewright.agent.providers.streams.sse import Sse
from gatewright.tools.protocol import JsonObject


class Reader(Protocol):
    """Reads one answer. Raises `ProviderError` where the server reports a failure in the stream."""

    def feed(self, event: Sse) -> Iterable[Piece]: ...
    def whole(self, body: JsonObject) -> Iterable[Piece]:
        """A complete answer of a server that does not stream."""
        ...

    def end(self) -> Iterable[Piece]:
        """The bytes ended: the last piece where the answer was complete without saying so."""
        ...


class Api(Protocol):
    @property
    def path(self) -> str:
        """Appended to the base URL."""
        ...

    def body(self, request: Request) -> JsonObject: ...
    def reader(self, request: Request) -> Reader: ...
