"""Runs a handler that is a command: what it reads, how long it may take, what is left of it.

A run is over a moment after its process, whoever still holds its pipes; what it left behind is
ended beside. Nobody waits for that but the end of the session.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from gatewright.agent.hooks.events import SHARED_FILE
from gatewright.agent.hooks.handlers import SCRUBBED, Handler
from gatewright.agent.hooks.kinds.running import KEPT, Firing, Output, Ports, filled, variables
from gatewright.tools.protocol import Child, SpawnRequest, ToolFailure
from gatewright.tools.system import private, programs

AFTER = 0.1  # seconds that a run may last beyond its process
GRACE = 2.0  # from TERM to KILL
CHUNK = 64 * 1024
NO_SHELL = "There is no {} on this machine."
FIRST = frozenset({"BASH_ENV", "ENV"})  # what a shell would run before the hook


class Commands:
    """Starts programs for hooks; owns whatever of them still has to end."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._ending: set[asyncio.Task[object]] = set()

    async def run(self, handler: Handler, firing: Firing) -> Output:
        """Never raises but CancelledError, after which its processes are ended all the same."""
        began = time.monotonic()
        try:
            argv = self._argv(handler)
            output = await self._run(handler, firing, argv)
        except ToolFailure as error:
            output = Output(exit=127, failure=str(error))
        except OSError as error:
            output = Output(failure=f"cannot start: {error.strerror or error}")
        ms = round((time.monotonic() - began) * 1000)
        return Output(
            exit=output.exit,
            stdout=output.stdout,
            stderr=output.stderr,
            failure=output.failure,
            ms=ms,
        )

    async def close(self) -> None:
        """Wait for what is still ending."""
        if self._ending:
            await asyncio.wait(self._ending, timeout=GRACE + 1)

    def _argv(self, handler: Handler) -> tuple[str, ...]:
        said, ports = handler.said, self._ports
        if said.args is not None:
            values = variables(ports, handler)
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
        reader, writer = os.pipe()
        told = _Told(reader)
        stdin = _holding(firing.data)
        try:
            child = await self._ports.spawn(
                SpawnRequest(
                    argv=argv,
                    cwd=cwd,
                    env=self._env(handler, firing),
                    stdin=stdin,
                    errors=writer,
                )
            )
        except BaseException:
            told.close()
            raise
        finally:
            os.close(writer)
            os.close(stdin)
        said = bytearray()
        failure = ""
        try:
            async with asyncio.timeout(handler.timeout):
                await _drained(child, said)
        except TimeoutError:
            failure = f"timed out after {handler.timeout:g} s"
        finally:
            if child.code is None:
                self._end(child.kill(GRACE))
            else:
                await self._settled(child)
            told.close()
        return Output(exit=child.code, stdout=_text(said), stderr=_text(told.kept), failure=failure)

    async def _settled(self, child: Child) -> None:
        """Its process is gone; what else is in its group has a moment, and is ended beside."""
        ending = self._end(child.wait())
        await asyncio.wait({ending}, timeout=AFTER)

    def _end(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        task = asyncio.create_task(work, name="end of a hook")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task


class _Told:
    """What a program says on stderr: the beginning is kept, the rest drained."""

    def __init__(self, reader: int) -> None:
        self.kept = bytearray()
        self._reader = reader
        os.set_blocking(reader, False)
        asyncio.get_running_loop().add_reader(reader, self._take)

    def _take(self) -> None:
        try:
            chunk = os.read(self._reader, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            asyncio.get_running_loop().remove_reader(self._reader)
            return
        self.kept += chunk[: KEPT - len(self.kept)]

    def close(self) -> None:
        """What was written by now still counts."""
        asyncio.get_running_loop().remove_reader(self._reader)
        with suppress(OSError):  # BlockingIOError: whoever still holds it has said nothing more
            while len(self.kept) < KEPT and (chunk := os.read(self._reader, CHUNK)):
                self.kept += chunk[: KEPT - len(self.kept)]
        os.close(self._reader)


async def _drained(child: Child, said: bytearray) -> None:
    while chunk := await child.read():
        said += chunk[: KEPT - len(said)]


def _holding(data: bytes) -> int:
    """A descriptor that gives these bytes and ends; nobody has to write while somebody reads."""
    try:
        fd = os.memfd_create("hook")
    except (AttributeError, OSError):  # not Linux
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _text(data: bytearray) -> str:
    return data.decode("utf-8", "replace")
