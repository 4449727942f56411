"""Providers that speak their API over plain HTTP with a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.api import Api
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.presets import Endpoint
from gatewright.agent.providers.protocol import Provider
from gatewright.agent.providers.streamed import StreamedProvider
from gatewright.agent.providers.transport.http import DirectTransport
from gatewright.agent.providers.wire import HttpWire

USER_AGENT = "gatewright/0.1.0"


def open_direct(
    server: Endpoint, facts: Callable[[str], ModelFacts], env: Mapping[str, str]
) -> Provider:
    headers = {"user-agent": USER_AGENT, **_key_headers(server, env), **_lower(server.headers)}

    async def current() -> Mapping[str, str]:
        return headers

    api = api_of(server, facts, server.type)
    url = base_url(server, server.type) + api.path
    wire = HttpWire(server.name, url=url, transport=DirectTransport(env), headers=current)
    return StreamedProvider(server.name, api=api, wire=wire)


def api_of(server: Endpoint, facts: Callable[[str], ModelFacts], spoken: str) -> Api:
    """Only the API that is spoken is imported."""
    match spoken:
        case "anthropic":
            from gatewright.agent.providers.anthropic import MessagesApi  # noqa: PLC0415  lazy: 2 ms

            return MessagesApi(server.name, facts, server.quirks)
        case "openai-responses":
            from gatewright.agent.providers.openai_responses import (  # noqa: PLC0415  lazy: 2 ms
                ResponsesApi,
            )

            return ResponsesApi(server.name, facts, server.quirks)
        case _:
            from gatewright.agent.providers.openai_chat import ChatApi  # noqa: PLC0415  lazy: 2 ms

            return ChatApi(server.name, facts, server.quirks)


def base_url(server: Endpoint, spoken: str) -> str:
    """The Messages API's path begins with /v1: an address that ends so is meant without."""
    base = server.base_url.rstrip("/")
    return base.removesuffix("/v1") if spoken == "anthropic" else base


def _key_headers(server: Endpoint, env: Mapping[str, str]) -> dict[str, str]:
    token = env.get(server.token_env, "")
    key = env.get(server.api_key_env, "")
    if not (token or key) and server.quirks.key_required:
        raise missing_key(server)
    if server.type != "anthropic":
        return {"authorization": f"Bearer {key}"} if key else {}
    from gatewright.agent.providers.anthropic import VERSION  # noqa: PLC0415  lazy: 2 ms

    version = {"anthropic-version": VERSION}
    bearer = {"authorization": f"Bearer {token}"} if token else {}
    return version | bearer | ({"x-api-key": key} if key else {})


def missing_key(server: Endpoint) -> ProviderError:
    return ProviderError(
        FailureKind.AUTH,
        f"No key for {server.name}: set {server.api_key_env or 'apiKeyEnv'}, run `agent login`, "
        "or try `--model demo`, which works offline.",
    )


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
