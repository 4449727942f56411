from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from gatewright.agent.providers.registry import Opened, open_provider
from gatewright.agent.providers.settings import ProviderSettings
from tests.fakes.model_server import ModelServer

Open = Callable[[ModelServer, str], Opened]


def settings_for(server: ModelServer, api: str) -> dict[str, ProviderSettings]:
    base = server.url if api == "anthropic" else server.openai_url
    return {"fake": ProviderSettings(type=api, base_url=base)}


@pytest.fixture
async def open_fake() -> AsyncIterator[Open]:
    """Opens the provider of an API at a model server, and closes it after the test."""
    opened: list[Opened] = []

    def open(server: ModelServer, api: str) -> Opened:
        opened.append(open_provider("fake/some-model", settings=settings_for(server, api), env={}))
        return opened[-1]

    yield open
    for one in opened:
        await one.provider.close()
