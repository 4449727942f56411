"""What a model API is to us: two pure conversions, of a request and of the events of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gatewright.agent.providers.apis.event_reader import EventReader
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.quirks import Quirks
from gatewright.tools.protocol import JsonObject


class Bodies(Protocol):
    """The bodies of one conversation's requests; each costs what is new since the one before."""

    def body(self, request: Request, facts: ModelFacts, quirks: Quirks) -> JsonObject: ...


class Api:
    """An API as one server speaks it; `path` is appended to the base URL."""

    def __init__(
        self,
        path: str,
        *,
        bodies: Bodies,
        reading: Callable[[str, str], EventReader],
        server: str,
        facts: Callable[[str], ModelFacts],
        quirks: Quirks,
    ) -> None:
        self.path = path
        self._bodies = bodies
        self._reading = reading
        self._server = server
        self._facts = facts
        self._quirks = quirks

    def body(self, request: Request) -> JsonObject:
        quirks = self._quirks
        body = self._bodies.body(request, self._facts(request.model), quirks) | quirks.extra
        return {name: value for name, value in body.items() if name not in quirks.omit}

    def reader(self, request: Request) -> EventReader:
        return self._reading(request.model, self._server)
