"""Logins at servers: kept where keys are, found by address, and given by a person at a page."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from gatewright.agent.errors import GatewrightError
from gatewright.agent.providers.keys.stored_keys import KeyStore, login_store
from gatewright.mcp.definitions import Definition
from gatewright.mcp.errors import NotConnected
from gatewright.mcp.expansion import expanded
from gatewright.mcp.oauth.desk import Desk, Wanted
from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.oauth.grant import Grant, name_of, resource_of
from gatewright.mcp.oauth.logins import Login
from gatewright.mcp.surroundings import Around
from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.system.processes import printed
from gatewright.tools.system.programs import find

OPENING = 10.0  # seconds for a browser to be started
LEAD = "mcp:"


class LoginKeeper:
    """What `Login` wants of the store of keys."""

    def __init__(self, store: KeyStore) -> None:
        self._store = store

    def find(self, name: str) -> str:
        try:
            return self._store.find(f"{LEAD}{name}")
        except GatewrightError as error:
            raise LoginFailed(str(error)) from error

    def put(self, name: str, text: str) -> None:
        try:
            self._store.put(f"{LEAD}{name}", text)
        except GatewrightError as error:
            raise LoginFailed(str(error)) from error

    def drop(self, name: str) -> bool:
        try:
            return self._store.drop(f"{LEAD}{name}")
        except GatewrightError as error:
            raise LoginFailed(str(error)) from error


def logins(
    env: Mapping[str, str], state: Path, told: Callable[[Sequence[str]], None] = lambda _: None
) -> Callable[[str, str], Login]:
    """The login at an address, for a client that is known by an id or by none.

    Whatever is secret of one is `told`, whenever it is read or renewed.
    """
    keeper = LoginKeeper(login_store(env))

    def login(url: str, client: str) -> Login:
        return Login(name_of(resource_of(url), client), keeper, state / "mcp", told=told)

    return login


def login_of(definition: Definition, around: Around) -> Login:
    """Raises LoginFailed where there can be none."""
    if not definition.remote or around.login is None:
        raise LoginFailed("it is a program of this machine, which nobody logs in to")
    if definition.own_login:
        raise LoginFailed("its definition brings an Authorization header of its own")
    return around.login(
        expanded(definition, around.variables(definition)).url, definition.oauth.client_id
    )


async def logged_in(
    definition: Definition, around: Around, desk: Desk, *, metadata_url: str, challenge: str = ""
) -> Grant:
    """Raises LoginFailed."""
    login = login_of(definition, around)
    filled = expanded(definition, around.variables(definition))
    wanted = Wanted(
        url=filled.url,
        headers={**filled.headers, **await _helped(definition, around)},
        oauth=definition.oauth,
        own=definition.source != "project",
        metadata_url=metadata_url,
        challenge=challenge,
    )
    log_in = await asyncio.to_thread(_loaded)
    return await log_in(wanted, login, desk)


async def logged_out(definition: Definition, around: Around) -> str:
    """What to tell of it. Raises LoginFailed."""
    login = login_of(definition, around)
    grant = await login.kept()
    if grant is None or not grant.secrets():
        return f"There is no login at {definition.name}."
    given_back = (await asyncio.to_thread(_renewal)) if grant.access else None
    why = await given_back(grant) if given_back is not None else ""
    await login.forget()
    left = f" It could not be told so, and may take it for a while: {why}." if why else ""
    return f"The login at {definition.name} is forgotten.{left}"


async def kept_client(definition: Definition, around: Around, secret: str) -> None:
    """What its client proves itself with, for the next login. Raises LoginFailed."""
    login = login_of(definition, around)
    resource = resource_of(expanded(definition, around.variables(definition)).url)
    if not (client := definition.oauth.client_id):
        raise LoginFailed("its definition names no client: oauth.clientId")
    await login.keep(Grant(resource=resource, client_id=client, client_secret=secret))


def browser(env: Mapping[str, str], avoid: Sequence[Path]) -> str:
    """The program that opens a page here; empty where nobody would see it."""
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        return ""
    if sys.platform == "darwin":
        return find("open", env, avoid)
    return find("xdg-open", env, avoid) if env.get("DISPLAY") or env.get("WAYLAND_DISPLAY") else ""


async def open_page(program: str, page: str, around: Around) -> bool:
    request = SpawnRequest(
        # Nothing of a browser holds what we read from, or is in the way when the shell has ended.
        argv=("/bin/sh", "-c", '"$0" "$1" >/dev/null 2>&1 &', program, page),
        cwd=Path.home(),
        env=dict(around.given),
        leaves=True,
    )
    try:
        code, _, _ = await printed(request, seconds=OPENING, keep=1024)
    except ToolFailure:
        return False
    return code == 0


async def _helped(definition: Definition, around: Around) -> Mapping[str, str]:
    if not definition.headers_helper:
        return {}
    from gatewright.mcp.printed_headers import HeaderProgram  # noqa: PLC0415  lazy: 54 ms

    try:
        return await HeaderProgram(definition, around).headers()
    except NotConnected as error:
        raise LoginFailed(str(error)) from error


def _loaded() -> Callable[[Wanted, Login, Desk], Awaitable[Grant]]:
    from gatewright.mcp.talk.login import log_in  # noqa: PLC0415  lazy: 0.4 s, in a thread
    from gatewright.mcp.talk.opening import quiet  # noqa: PLC0415  the same

    quiet()
    return log_in


def _renewal() -> Callable[[Grant], Awaitable[str]]:
    from gatewright.mcp.oauth.renewal import given_back  # noqa: PLC0415  lazy: 54 ms

    return given_back
