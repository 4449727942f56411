"""Runs a handler that is a command: what it reads, how long it may take, what is left of it.

A run is over with its process, whoever still holds its pipes; what it left behind is ended a
moment later. Nobody waits for that but the end of the session.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from gatewright.agent.hooks.events import SHARED_FILE
from gatewright.agent.hooks.handlers import SCRUBBED, Handler
from gatewright.agent.hooks.kinds.running import KEPT, Firing, Output, Ports, filled, variables
from gatewright.tools.protocol import Child, SpawnRequest, ToolFailure
from gatewright.tools.system import private, programs
from gatewright.tools.system.pipes import Errors, holding

AFTER = 0.1  # seconds from the end of a process to the end of what it left behind
GRACE = 2.0  # from TERM to KILL
NO_SHELL = "There is no {} on this machine."
FIRST = frozenset({"BASH_ENV", "ENV"})  # what a shell would run before the hook


class Commands:
    """Starts programs for hooks; owns whatever of them still has to end."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._ending: set[asyncio.Task[object]] = set()
        self._closing = asyncio.Event()

    async def run(self, handler: Handler, firing: Firing) -> Output:
        """Never raises but CancelledError, after which its processes are ended all the same."""
        try:
            return await self._run(handler, firing, self._argv(handler))
        except ToolFailure as error:
            return Output(exit=127, failure=str(error))
        except OSError as error:
            return Output(failure=f"cannot start: {error.strerror or error}")

    async def close(self) -> None:
        """Wait for what is still ending."""
        self._closing.set()
        if self._ending:
            await asyncio.wait(self._ending, timeout=GRACE + 1)

    def _argv(self, handler: Handler) -> tuple[str, ...]:
        said, ports = handler.said, self._ports
        if said.args is not None:
            values = {**variables(ports, handler), **dict(handler.place.fills)}
            return tuple(filled(word, values) for word in (said.command, *said.args))
        script = f"{ports.prelude}; {said.command}" if ports.prelude else said.command
        if said.shell == "powershell":
            return (self._program("pwsh"), "-NoProfile", "-Command", said.command)
        if said.shell == "bash":
            return (self._program("bash"), "--noprofile", "--norc", "-c", script)
        return ("/bin/sh", "-c", script)

    def _program(self, name: str) -> str:
        if found := programs.find(name, self._ports.env(False)):
            return found
        raise ToolFailure(NO_SHELL.format(name))

    def _env(self, handler: Handler, firing: Firing) -> dict[str, str]:
        ports = self._ports
        scrubbed = handler.place.origin in SCRUBBED
        env = {name: each for name, each in ports.env(scrubbed).items() if name not in FIRST}
        env |= {**variables(ports, handler), "CLAUDE_SESSION_ID": ports.session}
        if effort := ports.effort():
            env["CLAUDE_EFFORT"] = effort
        if ports.env_file is not None and firing.event in SHARED_FILE:
            private.folder(ports.env_file.parent)
            env["CLAUDE_ENV_FILE"] = env["GATEWRIGHT_ENV_FILE"] = str(ports.env_file)
        return env

    async def _run(self, handler: Handler, firing: Firing, argv: tuple[str, ...]) -> Output:
        cwd = firing.cwd if firing.cwd.is_dir() else self._ports.root
        stdin = holding(firing.data)
        with Errors(KEPT) as told:
            request = SpawnRequest(
                argv=argv,
                cwd=cwd,
                env=self._env(handler, firing),
                stdin=stdin,
                errors=told.end,
            )
            try:
                child = await self._ports.spawn(request)
            finally:
                told.begun()
                os.close(stdin)
            said = bytearray()
            failure = ""
            try:
                async with asyncio.timeout(handler.timeout):
                    await _drained(child, said)
            except TimeoutError:
                failure = f"timed out after {handler.timeout:g} s"
            finally:
                self._end(child.kill(GRACE) if child.code is None else self._swept(child))
            return Output(
                exit=child.code, stdout=_text(said), stderr=_text(told.kept()), failure=failure
            )

    async def _swept(self, child: Child) -> None:
        """Its process is gone; what it left has a moment, in which others have their answers."""
        with suppress(TimeoutError):
            async with asyncio.timeout(AFTER):
                await self._closing.wait()
        await child.wait()

    def _end(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work, name="end of a hook")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _drained(child: Child, said: bytearray) -> None:
    while chunk := await child.read():
        said += chunk[: KEPT - len(said)]


def _text(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")
