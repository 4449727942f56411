"""Which models a server offers, and which servers run on this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping

import msgspec

from gatewright.agent.errors import FailureKind, GatewrightError
from gatewright.agent.providers.direct import base_url, header_source
from gatewright.agent.providers.errors import failure, failure_of
from gatewright.agent.providers.foreign import Unreadable, decoded, rows, table, text
from gatewright.agent.providers.presets import Endpoint, endpoint, load_presets
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.providers.transport.address import parse_url
from gatewright.agent.providers.transport.http import DirectTransport
from gatewright.agent.providers.transport.port import Timeouts
from gatewright.agent.providers.wire import read_all

_LIMIT = 8 * 1024 * 1024
_ASKING = Timeouts(connect=10.0, idle=20.0)
_LOOKING = Timeouts(connect=0.3, write=0.3, idle=0.7)


class LocalServer(msgspec.Struct, frozen=True):
    """A model server that answers on this machine; `provider` is its preset's name."""

    provider: str
    base_url: str
    models: tuple[str, ...]


async def list_models(
    server: Endpoint, env: Mapping[str, str], timeouts: Timeouts = _ASKING
) -> tuple[str, ...]:
    """The names the server gives, sorted. Raises `ProviderError`."""
    transport = DirectTransport(env, timeouts)
    path = "/v1/models?limit=1000" if server.type == "anthropic" else "/models"
    url = base_url(server, server.type) + path
    try:
        headers = await header_source(server, env).current()
        async with transport.send(url, headers, None) as answer:
            body = await read_all(answer, _LIMIT)
            if answer.status != 200:
                raise failure_of(answer.status, answer.headers, body, who=server.name)
    finally:
        await transport.close()
    try:
        listed = table(decoded(body))
    except Unreadable as error:
        raise failure(
            FailureKind.REFUSED,
            "its list of models is not JSON; check the base URL",
            who=server.name,
        ) from error
    names = (text(table(item).get("id")) for item in rows(listed.get("data")))
    return tuple(sorted({name for name in names if name}))


async def local_servers(
    settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> tuple[LocalServer, ...]:
    """The usual local servers that answer now, within a second. They are offered, never chosen."""
    names = [name for name, preset in load_presets().items() if preset.local]
    found = await asyncio.gather(*(_look(name, settings, env) for name in names))
    return tuple(server for server in found if server is not None)


def listening(settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> tuple[str, ...]:
    """The local providers at whose address something answers; a matter of milliseconds."""
    return tuple(
        name
        for name, preset in load_presets().items()
        if preset.local and _answers(endpoint(name, settings, env).base_url)
    )


def _answers(base_url: str) -> bool:
    try:
        address = parse_url(base_url)
        with socket.create_connection((address.host, address.port), timeout=0.1):
            return True
    except (OSError, GatewrightError):
        return False


async def look(
    server: Endpoint, env: Mapping[str, str], timeouts: Timeouts = _LOOKING
) -> tuple[str, ...] | None:
    """The names the server gives if it answers soon."""
    try:
        return await list_models(server, env, timeouts)
    except GatewrightError:
        return None


async def _look(
    name: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> LocalServer | None:
    try:
        server = endpoint(name, settings, env)
    except GatewrightError:
        return None
    models = await look(server, env)
    return None if models is None else LocalServer(name, server.base_url, models)
