"""Which models a server offers, and which servers run on this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence

import msgspec

from gatewright.agent.errors import FailureKind, GatewrightError, ProviderError
from gatewright.agent.providers.direct import ask_once, header_source, headers_with
from gatewright.agent.providers.errors import failure
from gatewright.agent.providers.listed import MOST, Listed, listed
from gatewright.agent.providers.presets import Endpoint, endpoint, load_presets
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.providers.streams.foreign_json import (
    Unreadable,
    count,
    decoded,
    rows,
    table,
    text,
)
from gatewright.agent.providers.transport.address import on_loopback, parse_url
from gatewright.agent.providers.transport.port import Timeouts
from gatewright.tools.protocol import JsonObject

_LIST = {"anthropic": "/v1/models?limit=1000"}  # where it is not /models
_WINDOWS = ("context_length", "context_window", "max_context_length", "max_model_len",
            "max_input_tokens")  # fmt: skip
_OUTPUTS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
_CHECKING = 15.0
_WRONG_KEY = (400, 401)  # 403 may be about the list alone: a key can be for messages only
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
    return tuple(model.name for model in await describe_models(server, env, timeouts))


async def describe_models(
    server: Endpoint, env: Mapping[str, str], timeouts: Timeouts = _ASKING
) -> tuple[Listed, ...]:
    """What the server says of its models, sorted by name. Raises `ProviderError`."""
    headers = await header_source(server, env).current()
    path = _LIST.get(server.type, "/models")
    body = await ask_once(server, path, headers, env, timeouts)
    try:
        answer = decoded(body)
    except Unreadable as error:
        raise failure(
            FailureKind.REFUSED,
            "its list of models is not JSON; check the base URL",
            who=server.name,
        ) from error
    described = (_listed(table(item)) for item in rows(table(answer).get("data")))
    named = {model.name: model for model in described if model is not None}
    return tuple(named[name] for name in sorted(named)[:MOST])


async def try_key(server: Endpoint, key: str, env: Mapping[str, str]) -> str:
    """Ask the server something cheap with this key; why that could not be done, else nothing.

    Raises GatewrightError where the server says that the key is wrong.
    """
    if server.transport != "http":
        return "only a first message tries it"
    try:
        await _answered(server, key, env)
    except ProviderError as error:
        if error.status in _WRONG_KEY:
            text = f"{server.name} does not know this key ({error.status}). Nothing was stored."
            raise GatewrightError(text) from error
        return str(error).partition(" Check it")[0].rstrip(".")
    return ""


async def _answered(server: Endpoint, key: str, env: Mapping[str, str]) -> None:
    path = server.key_check or _LIST.get(server.type, "/models")
    try:
        async with asyncio.timeout(_CHECKING):
            await ask_once(server, path, headers_with(server, key), env, _ASKING)
    except TimeoutError as error:
        text = f"nothing came within {_CHECKING:.0f} s"
        raise failure(FailureKind.TRANSPORT, text, who=server.name) from error


def _listed(item: JsonObject) -> Listed | None:
    def largest(fields: Sequence[str]) -> int:
        return next((n for n in (count(item.get(field)) for field in fields) if n), 0)

    return listed(text(item.get("id")), largest(_WINDOWS), largest(_OUTPUTS))


async def local_servers(
    settings: Mapping[str, ProviderSettings], env: Mapping[str, str], *, here: bool = False
) -> tuple[LocalServer, ...]:
    """The usual local servers that answer now, within a second. They are offered, never chosen.

    `here`: only those whose address is this machine's own.
    """
    names = [name for name, preset in load_presets().items() if preset.local]
    if here:
        names = [name for name in names if _is_here(endpoint(name, settings, env).base_url)]
    found = await asyncio.gather(*(_look(name, settings, env) for name in names))
    return tuple(server for server in found if server is not None)


def listening(settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> tuple[str, ...]:
    """The local providers at whose address something answers; a matter of milliseconds."""
    return tuple(
        name
        for name, preset in load_presets().items()
        if preset.local and _answers(endpoint(name, settings, env).base_url)
    )


def _is_here(base_url: str) -> bool:
    try:
        return on_loopback(parse_url(base_url).host)
    except GatewrightError:
        return False


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
