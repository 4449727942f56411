from __future__ import annotations

import time

import pytest

from gatewright.agent.errors import ProviderError
from gatewright.agent.providers.listing import LocalServer, listening, local_servers
from gatewright.agent.providers.probe import Finding, probe
from gatewright.agent.providers.settings import ProviderSettings
from tests.fakes.model_server import ModelServer
from tests.providers.conftest import settings_for

GOOD = 'words: 3\nsay: ready\nusage: in=9 out=2\n---\ncall: echo {"word": "ready"}\n---\nsay: Red.'


async def findings(server: ModelServer, api: str) -> dict[str, Finding]:
    settings = settings_for(server, api)
    found = probe("fake/fake", settings=settings, env={}, clock=time.monotonic)
    return {finding.what: finding async for finding in found}


@pytest.mark.parametrize("api", ["anthropic", "openai", "openai-responses"])
async def test_a_good_server_passes_every_probe(api: str) -> None:
    async with ModelServer(GOOD) as server:
        found = await findings(server, api)
    assert {name: finding.ok for name, finding in found.items()} == {
        "models": True,
        "text": True,
        "stream": True,
        "usage": True,
        "tool call": True,
        "image": True,
    }
    assert found["tool call"].detail.startswith("echo")


async def test_what_does_not_work_is_told() -> None:
    script = "usage: in=0 out=0\nsay: ready\nwords: 99\n---\nsay: I cannot.\n---\nerror: refused"
    async with ModelServer(script) as server:
        server.models = ["a", "b", "c", "d", "e", "f", "g"]
        found = await findings(server, "openai")
    assert found["models"].ok is None
    assert "and 2 more" in found["models"].detail
    assert (found["stream"].ok, found["usage"].ok) == (None, False)
    assert "in text: I cannot." in found["tool call"].detail
    assert found["image"].ok is False


async def test_a_server_that_refuses_ends_the_probe() -> None:
    async with ModelServer("error: auth") as server:
        with pytest.raises(ProviderError, match="key"):
            await findings(server, "anthropic")


async def test_a_missing_key_is_told_at_once() -> None:
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        async for _ in probe("openai/x", settings={}, env={}, clock=time.monotonic):
            pytest.fail("nothing can be found out without a key")


async def test_local_servers_that_answer_are_found() -> None:
    nowhere = ProviderSettings(base_url="http://127.0.0.1:9/v1")
    async with ModelServer() as server:
        server.models = ["qwen", "gemma"]
        settings = {
            "ollama": ProviderSettings(base_url=server.openai_url),
            **dict.fromkeys(("lmstudio", "vllm", "llamacpp"), nowhere),
        }
        assert await local_servers(settings, {}) == (
            LocalServer("ollama", server.openai_url, ("gemma", "qwen")),
        )
        assert listening(settings, {}) == ("ollama",)
