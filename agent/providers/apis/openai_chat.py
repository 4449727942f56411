"""Chat Completions, as OpenAI defined it and nearly every other server speaks it."""

from __future__ import annotations

from collections.abc import Callable

from gatewright.agent.providers.api import Reader
from gatewright.agent.providers.apis.openai_chat_events import ChatReader
from gatewright.agent.providers.apis.openai_chat_request import Bodies
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.quirks import Quirks
from gatewright.tools.protocol import JsonObject


class ChatApi:
    path = "/chat/completions"

    def __init__(self, name: str, facts: Callable[[str], ModelFacts], quirks: Quirks) -> None:
        self._name = name
        self._facts = facts
        self._quirks = quirks
        self._bodies = Bodies()

    def body(self, request: Request) -> JsonObject:
        return self._bodies.body(request, self._facts(request.model), self._quirks)

    def reader(self, request: Request) -> Reader:
        return ChatReader(request.model, self._name)
