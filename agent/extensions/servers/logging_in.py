"""Logging in and out at servers while a session runs: the person opens a page, we wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.servers.logins import browser, logged_in, logged_out, open_page
from gatewright.agent.record.events import Noticed
from gatewright.agent.text.printable import escaped
from gatewright.mcp.errors import NotConnected
from gatewright.mcp.oauth.callback import Callback
from gatewright.mcp.oauth.desk import Desk
from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.server import Server
from gatewright.mcp.surroundings import Around
from gatewright.tools.blocks import Text
from gatewright.tools.interact import Ask, Option

BEGINNING = 60.0  # seconds until a server has said where to log in
NO = "no"


class ServerLogins:
    """One login at a time for each server."""

    def __init__(self, host: Host, around: Callable[[], Around]) -> None:
        self._host, self._around = host, around
        self._running: dict[str, asyncio.Task[None]] = {}
        self._waiting: dict[str, Callback] = {}

    async def log_in(self, server: Server, pasted: str) -> str:
        """What to tell the person. Raises SessionError."""
        if pasted:
            return self._paste(server.name, pasted)
        await self._end(server.name)
        page: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._flow(server, page), name=f"login at {server.name}")
        self._running[server.name] = task
        begun: tuple[asyncio.Future[Any], ...] = (task, page)
        await asyncio.wait(begun, timeout=BEGINNING, return_when=asyncio.FIRST_COMPLETED)
        if page.done():
            return page.result()
        await self._end(server.name)
        raise SessionError(f"There is no login at {server.name}: see the notice before this.")

    async def log_out(self, server: Server) -> str:
        """Raises SessionError."""
        await self._end(server.name)
        try:
            told = await logged_out(server.definition, self._around())
        except LoginFailed as failed:
            raise SessionError(f"{server.name}: {escaped(str(failed))}.") from failed
        if server.usable:
            await server.turn("disabled")  # what is connected goes with its login
            await server.turn("idle")
        return escaped(told)

    async def close(self) -> None:
        for name in list(self._running):
            await self._end(name)

    def _paste(self, name: str, text: str) -> str:
        callback = self._waiting.get(name)
        if callback is None:
            raise SessionError(f"No login at {name} is waited for: /mcp login {name} begins one.")
        try:
            callback.pasted(text)
        except LoginFailed as failed:
            raise SessionError(f"{failed}.") from failed
        return f"Logging in at {name}."

    async def _end(self, name: str) -> None:
        task = self._running.pop(name, None)
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])

    async def _flow(self, server: Server, told: asyncio.Future[str]) -> None:
        around, definition, refusal = self._around(), server.definition, server.wants.refusal

        async def show(page: str, callback: Callback) -> None:
            self._waiting[server.name] = callback
            program = browser(around.env, around.avoid)
            opened = bool(program) and await open_page(program, page, around)
            if not told.done():
                told.set_result(_invitation(server, page, opened=opened))

        try:
            await logged_in(
                definition,
                around,
                Desk(sure=self._sure, show=show),
                metadata_url=self._host.around.settings.mcp.client_metadata_url,
                challenge=refusal.header if refusal is not None else "",
            )
        except LoginFailed as failed:
            self._host.warn(f"No login at {server.name}: {escaped(str(failed))}.")
            return
        finally:
            self._waiting.pop(server.name, None)
        said = f"You are logged in at {server.name}."
        self._host.publish(Noticed(text=said, about="auth_success"))
        with suppress(NotConnected):  # which is told where it happens
            await server.reconnect()

    async def _sure(self, question: str) -> bool:
        answer = await self._host.session.ask(
            Ask(
                kind="trust",
                title="Go on with this login?",
                body=(Text(escaped(question)),),
                options=(Option("yes", "Go on", "y"), Option(NO, "Stop", "n")),
                reason="Whoever gets a login can do what it allows.",
            )
        )
        return answer.choice == "yes"


def _invitation(server: Server, page: str, *, opened: bool) -> str:
    begin = "This page was opened" if opened else "Open this page"
    return (
        f"{begin} to log in, for the MCP server at {escaped(server.definition.url)}:\n"
        f"{escaped(page)}\n"
        "It is waited for 5 minutes. Where the browser is on another machine, it ends at an "
        f"address that it cannot open: /mcp login {server.name} ADDRESS finishes with that one."
    )
