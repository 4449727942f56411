"""Logging in at a server from a terminal: its page is opened or told, what comes back is read."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.servers.logins import (
    browser,
    kept_client,
    logged_in,
    logged_out,
    open_page,
)
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.subcommands.questions.servers_here import ServersHere
from gatewright.agent.subcommands.tell import tell
from gatewright.mcp.definitions import Definition
from gatewright.mcp.oauth.callback import Callback
from gatewright.mcp.oauth.desk import Desk
from gatewright.mcp.oauth.errors import LoginFailed

LONGEST = 16 * 1024  # of a line that is pasted


def log_in_here(name: str, *, page: bool) -> None:
    """`page`: a browser may be opened. Raises GatewrightError."""
    at = ServersHere()
    definition = _usable(at, name)
    asyncio.run(_logged_in(at, definition, page=page))
    tell(f"You are logged in at {name}. agent mcp get {name} tries it.")


def log_out_here(name: str) -> None:
    """Raises GatewrightError."""
    at = ServersHere()
    if (definition := at.find(name)) is None:
        raise UsageError(f"There is no MCP server {name} here.")
    try:
        tell(asyncio.run(logged_out(definition, at.place)))
    except LoginFailed as failed:
        raise GatewrightError(f"{name}: {failed}.") from failed


def keep_secret(name: str, secret: str) -> None:
    """What the client of this server proves itself with. Raises GatewrightError."""
    at = ServersHere()
    definition = _usable(at, name)
    try:
        asyncio.run(kept_client(definition, at.place, secret))
    except LoginFailed as failed:
        raise GatewrightError(f"{name}: {failed}.") from failed


def _usable(at: ServersHere, name: str) -> Definition:
    definition = at.find(name)
    if definition is None:
        raise UsageError(f"There is no MCP server {name} here.")
    state = at.state(definition)
    if state == "unapproved":
        raise UsageError(f"{name} is of this project and not approved: agent mcp approve {name}.")
    if state == "disabled":
        raise UsageError(f"{name} is disabled here.")
    return definition


async def _logged_in(at: ServersHere, definition: Definition, *, page: bool) -> None:
    place = at.place
    program = browser(place.env, place.avoid) if page else ""
    async with contextlib.AsyncExitStack() as stack:

        async def show(url: str, callback: Callback) -> None:
            tell(f"Log in for the MCP server at {definition.url} on this page:\n{url}")
            if program and await open_page(program, url, place):
                tell("It was opened in your browser, and is waited for 5 minutes.")
                return
            tell(
                "Open it in a browser. If that is on another machine it ends at an address that "
                "it cannot open: paste that one here."
            )
            await stack.enter_async_context(_pasting(callback))

        try:
            await logged_in(
                definition,
                place,
                Desk(sure=_sure, show=show),
                metadata_url=at.around.settings.mcp.client_metadata_url,
            )
        except LoginFailed as failed:
            raise GatewrightError(f"No login at {definition.name}: {failed}.") from failed


async def _sure(question: str) -> bool:
    tell(f"{question} [y/N] ", nl=False)
    line = await asyncio.to_thread(sys.stdin.readline)
    return line.strip().lower() in ("y", "yes")


@contextlib.asynccontextmanager
async def _pasting(callback: Callback) -> AsyncGenerator[None]:
    """Take the address from our input, for as long as the login is waited for."""
    task = asyncio.create_task(_read(callback), name="reading what is pasted")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _read(callback: Callback) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST)
    try:
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
        )
    except (OSError, ValueError):  # a file: it is all there
        for line in sys.stdin.readlines(LONGEST):
            _take(callback, line)
        return
    try:
        while line := await reader.readline():
            if _take(callback, line.decode("utf-8", "replace")):
                return
    except ValueError:
        tell("That is too long for an address.", err=True)
    finally:
        transport.close()


def _take(callback: Callback, line: str) -> bool:
    if not line.strip():
        return False
    try:
        callback.pasted(line)
    except LoginFailed as failed:
        tell(f"{str(failed).capitalize()}.", err=True)
        return False
    return True
