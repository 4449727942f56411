"""A provider's own search: one request, its results as hits, and words for what cannot be."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.presets import endpoint
from gatewright.agent.providers.search import provider_search, search_with
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.tools.services import Hit
from tests.fakes.raw_server import RawServer

MESSAGES = {
    "content": [
        {"type": "server_tool_use", "name": "web_search", "input": {"query": "q"}},
        {
            "type": "web_search_tool_result",
            "content": [
                {"type": "web_search_result", "url": "https://a.example/x", "title": "A"},
                {"type": "web_search_result", "url": "https://b.example", "title": ""},
                {"type": "web_search_result", "url": "https://a.example/x", "title": "again"},
                {"type": "web_search_result", "url": "javascript:alert(1)", "title": "no"},
            ],
        },
        {
            "type": "text",
            "text": "It is so.",
            "citations": [{"url": "https://a.example/x", "cited_text": "so it is"}],
        },
    ]
}
RESPONSES = {
    "output": [
        {
            "type": "web_search_call",
            "action": {"sources": [{"type": "url", "url": "https://b.example"}]},
        },
        {
            "type": "message",
            "content": [
                {
                    "type": "output_text",
                    "text": "It is so. [1]",
                    "annotations": [
                        {
                            "type": "url_citation",
                            "url": "https://a.example/x",
                            "title": "A",
                            "start_index": 10,
                        }
                    ],
                }
            ],
        },
    ]
}


@asynccontextmanager
async def server(status: int, body: object) -> AsyncGenerator[RawServer]:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    async with RawServer(status, raw) as made:
        yield made


async def search(made: RawServer, api: str) -> tuple[Hit, ...]:
    settings = {"own": ProviderSettings(type=api, base_url=made.url, api_key_env="KEY")}
    env = {"KEY": "secret"}
    return await provider_search(endpoint("own", settings, env), "m", "what is so", env)


@pytest.mark.parametrize(
    ("api", "body", "hits", "tool"),
    [
        (
            "anthropic",
            MESSAGES,
            (
                Hit("A", "https://a.example/x", "so it is"),
                Hit("https://b.example", "https://b.example"),
            ),
            "web_search_20250305",
        ),
        (
            "openai-responses",
            RESPONSES,
            (
                Hit("A", "https://a.example/x", "It is so."),
                Hit("https://b.example", "https://b.example"),
            ),
            "web_search",
        ),
    ],
)
async def test_results_become_hits(
    api: str, body: object, hits: tuple[Hit, ...], tool: str
) -> None:
    async with server(200, body) as made:
        assert await search(made, api) == hits
        sent: dict[str, Any] = msgspec.json.decode(made.bodies[0])
        assert sent["tools"][0]["type"] == tool
        assert "what is so" in str(sent)


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"content": 5, "output": [7, null]}'])
@pytest.mark.parametrize("api", ["anthropic", "openai-responses"])
async def test_nonsense_gives_nothing_or_a_reason(api: str, body: bytes) -> None:
    async with server(200, body) as made:
        try:
            assert await search(made, api) == ()
        except ProviderError as error:
            assert error.kind is FailureKind.TRANSPORT


async def test_a_failure_is_named() -> None:
    async with server(401, {"error": {"message": "bad key"}}) as made:
        with pytest.raises(ProviderError) as caught:
            await search(made, "anthropic")
        assert caught.value.kind is FailureKind.AUTH


async def test_a_server_without_a_search_says_what_to_set() -> None:
    async with server(200, {}) as made:
        with pytest.raises(ProviderError, match=r"web\.search"):
            await search(made, "openai")
        assert made.bodies == []


async def test_the_model_in_use_says_who_searches() -> None:
    async with server(200, MESSAGES) as made:
        env = {"ANTHROPIC_API_KEY": "secret", "ANTHROPIC_BASE_URL": made.url}
        hits = await search_with("anthropic/some-model", "what is so", settings={}, env=env)
        assert [hit.title for hit in hits] == ["A", "https://b.example"]
        assert msgspec.json.decode(made.bodies[0])["model"] == "some-model"
