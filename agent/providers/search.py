"""A web search by the model provider's own search tool, as one request without a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gatewright.agent.errors import FailureKind
from gatewright.agent.providers.direct import ask_once, header_source
from gatewright.agent.providers.errors import failure
from gatewright.agent.providers.presets import Endpoint, endpoint
from gatewright.agent.providers.registry import choose
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.providers.streams.foreign_json import Unreadable, decoded, rows, table, text
from gatewright.agent.providers.transport.port import Timeouts
from gatewright.tools.protocol import JsonObject
from gatewright.tools.services import Hit

_ASKING = Timeouts(connect=10.0, idle=60.0)
_OUTPUT = 1_024
_SNIPPET = 300
SPOKEN = ("anthropic", "openai-responses")


async def search_with(
    model: str, query: str, *, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> tuple[Hit, ...]:
    """By the provider of this model. Raises GatewrightError."""
    chosen = choose(model, settings=settings, env=env)
    server = endpoint(chosen.provider, settings, env)
    return await provider_search(server, chosen.model, query, env)


async def provider_search(
    server: Endpoint, model: str, query: str, env: Mapping[str, str]
) -> tuple[Hit, ...]:
    """What the provider found, in its order. Raises `ProviderError`."""
    if server.type not in SPOKEN:
        raise failure(
            FailureKind.REFUSED,
            "it has no web search of its own; set web.search to duckduckgo, brave or searxng",
            who=server.name,
        )
    messages = server.type == "anthropic"
    path = "/v1/messages" if messages else "/responses"
    body = msgspec.json.encode(messages_body(model, query) if messages else asked(model, query))
    headers = {"content-type": "application/json", **await header_source(server, env).current()}
    said = await ask_once(server, path, headers, env, _ASKING, body=body)
    try:
        found = table(decoded(said))
    except Unreadable as error:
        raise failure(
            FailureKind.TRANSPORT, "the search's answer is not JSON", who=server.name
        ) from error
    return tuple(_distinct(messages_hits(found) if messages else responses_hits(found)))


def messages_body(model: str, query: str) -> JsonObject:
    return {
        "model": model,
        "max_tokens": _OUTPUT,
        "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 1}],
        "messages": [{"role": "user", "content": f"Search the web for: {query}"}],
    }


def asked(model: str, query: str) -> JsonObject:
    """The same for the Responses API."""
    return {
        "model": model,
        "input": f"Search the web for: {query}",
        "tools": [{"type": "web_search"}],
        "tool_choice": "required",
        "include": ["web_search_call.action.sources"],
        "max_output_tokens": _OUTPUT,
        "store": False,
    }


def messages_hits(body: JsonObject) -> Iterator[Hit]:
    """The results, each with the words the answer quoted from it."""
    blocks = [table(block) for block in rows(body.get("content"))]
    quoted: dict[str, str] = {}
    for block in blocks:
        for citation in map(table, rows(block.get("citations"))):
            quoted.setdefault(text(citation.get("url")), text(citation.get("cited_text")))
    for block in blocks:
        if block.get("type") != "web_search_tool_result":
            continue
        for result in map(table, rows(block.get("content"))):
            url = text(result.get("url"))
            yield Hit(text(result.get("title")), url, quoted.get(url, "")[:_SNIPPET])


def responses_hits(body: JsonObject) -> Iterator[Hit]:
    """What the answer cites, then the other sources."""
    items = [table(item) for item in rows(body.get("output"))]
    for item in items:
        for part in map(table, rows(item.get("content"))):
            for note in map(table, rows(part.get("annotations"))):
                if note.get("type") == "url_citation":
                    yield Hit(text(note.get("title")), text(note.get("url")), _around(part, note))
    for item in items:
        for source in map(table, rows(table(item.get("action")).get("sources"))):
            yield Hit(text(source.get("title")), text(source.get("url")))


def _around(part: Mapping[str, Any], note: Mapping[str, Any]) -> str:
    """The words that the citation stands behind."""
    end = note.get("start_index")
    said = text(part.get("text"))
    return said[max(0, end - _SNIPPET) : end].strip() if isinstance(end, int) else ""


def _distinct(hits: Iterator[Hit]) -> Iterator[Hit]:
    seen: set[str] = set()
    for hit in hits:
        if hit.url.startswith(("http://", "https://")) and hit.url not in seen:
            seen.add(hit.url)
            yield Hit(hit.title or hit.url, hit.url, hit.snippet)
