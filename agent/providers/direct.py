"""Providers that speak their API over plain HTTP with a key."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.api import Api, Bodies
from gatewright.agent.providers.apis.event_reader import EventReader
from gatewright.agent.providers.carrier import HeaderSource, HttpWire, read_all
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.presets import Endpoint
from gatewright.agent.providers.protocol import Provider
from gatewright.agent.providers.streams.streamed import StreamedProvider
from gatewright.agent.providers.transport.http import DirectTransport
from gatewright.agent.providers.transport.port import Timeouts
from gatewright.agent.providers.tried import Tried

if TYPE_CHECKING:
    from gatewright.agent.providers.keys.keyhelper import KeyHelper

USER_AGENT = "gatewright/0.1.0"
_LIMIT = 8 * 1024 * 1024  # bytes of an answer in one piece
LISTING = Timeouts(connect=3.0, write=3.0, idle=5.0)


def open_direct(
    server: Endpoint, facts: Callable[[str], ModelFacts], env: Mapping[str, str]
) -> Provider:
    api = api_of(server, facts, server.type)
    tried = Tried(base_url(server, server.type), api.path)
    source = header_source(server, env)
    wire = HttpWire(server.name, tried=tried, transport=DirectTransport(env), headers=source)

    async def offered() -> tuple[str, ...]:
        from gatewright.agent.providers.listing import look  # noqa: PLC0415  lazy: a wrong name only

        return await look(server, env, LISTING) or ()

    return StreamedProvider(server.name, api=api, wire=wire, offered=offered)


class FixedHeaders:
    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    async def current(self) -> Mapping[str, str]:
        return self._headers

    def refused(self) -> None:
        return


class HelperHeaders:
    """A key that a command gives, and gives anew when the server did not take it."""

    def __init__(self, server: Endpoint, helper: KeyHelper) -> None:
        self._server = server
        self._helper = helper

    async def current(self) -> Mapping[str, str]:
        return headers_with(self._server, await self._helper.key())

    def refused(self) -> None:
        self._helper.forget()


def header_source(server: Endpoint, env: Mapping[str, str]) -> HeaderSource:
    """Environment first, then the helper, then what was stored by `agent login`."""
    token, key = env.get(server.token_env, ""), env.get(server.api_key_env, "")
    if not (token or key) and server.api_key_helper:
        from gatewright.agent.providers.keys.keyhelper import KeyHelper  # noqa: PLC0415  lazy: 1 ms

        helper = KeyHelper(server.api_key_helper, env, clock=time.monotonic, name=server.name)
        return HelperHeaders(server, helper)
    if not (token or key):
        key = stored_key(server.name, env)
    if not (token or key) and server.quirks.key_required:
        raise missing_key(server)
    return FixedHeaders(headers_with(server, key, token))


def stored_key(name: str, env: Mapping[str, str]) -> str:
    from gatewright.agent.providers.keys.stored_keys import key_store  # noqa: PLC0415  lazy: 3 ms

    return key_store(env).find(name)


def api_of(server: Endpoint, facts: Callable[[str], ModelFacts], spoken: str) -> Api:
    """Only the API that is spoken is imported."""
    bodies: Bodies
    reading: Callable[[str, str], EventReader]
    match spoken:
        case "anthropic":
            from gatewright.agent.providers.apis import (  # noqa: PLC0415  lazy: 2 ms
                anthropic_events,
                anthropic_request,
            )

            path, bodies = "/v1/messages", anthropic_request.Bodies()
            reading = anthropic_events.MessagesReader
        case "openai-responses":
            from gatewright.agent.providers.apis import (  # noqa: PLC0415  lazy: 2 ms
                openai_responses_events,
                openai_responses_request,
            )

            path, bodies = "/responses", openai_responses_request.Bodies()
            reading = openai_responses_events.ResponsesReader
        case _:
            from gatewright.agent.providers.apis import (  # noqa: PLC0415  lazy: 2 ms
                openai_chat_events,
                openai_chat_request,
            )

            path, bodies = "/chat/completions", openai_chat_request.Bodies()
            reading = openai_chat_events.ChatReader
    return Api(
        path,
        bodies=bodies,
        reading=reading,
        server=server.name,
        facts=facts,
        quirks=server.quirks,
    )


def base_url(server: Endpoint, spoken: str) -> str:
    """The Messages API's path begins with /v1: an address that ends so is meant without."""
    base = server.base_url.rstrip("/")
    return base.removesuffix("/v1") if spoken == "anthropic" else base


async def ask_once(
    server: Endpoint,
    path: str,
    headers: Mapping[str, str],
    env: Mapping[str, str],
    timeouts: Timeouts,
    *,
    body: bytes | None = None,
) -> bytes:
    """A server's whole answer: to a GET, or to what is posted. Raises `ProviderError`."""
    transport = DirectTransport(env, timeouts)
    url = base_url(server, server.type) + path
    try:
        async with transport.send(url, headers, body) as answer:
            said = await read_all(answer, _LIMIT)
            if answer.status != 200:
                from gatewright.agent.providers.errors import failure_of  # noqa: PLC0415  lazy: 1 ms

                raise failure_of(answer.status, answer.headers, said, who=server.name)
            return said
    finally:
        await transport.close()


def headers_with(server: Endpoint, key: str, token: str = "") -> dict[str, str]:
    """The headers of a request with this key, or this token."""
    own = {name.lower(): value for name, value in server.headers.items()}
    bearer = {"authorization": f"Bearer {token}"} if token else {}
    headers = {"user-agent": USER_AGENT}
    if server.type == "anthropic":
        from gatewright.agent.providers.apis.anthropic_request import VERSION  # noqa: PLC0415  lazy: 2 ms

        headers |= {"anthropic-version": VERSION, **bearer}
        headers |= {"x-api-key": key} if key else {}
    elif key or token:
        headers |= {"authorization": f"Bearer {key or token}"}
    return headers | own


def missing_key(server: Endpoint) -> ProviderError:
    return ProviderError(
        FailureKind.AUTH,
        f"No key for {server.name}: set {server.api_key_env or 'apiKeyEnv'}, run `agent login`, "
        "or try `--model demo`, which works offline.",
    )
