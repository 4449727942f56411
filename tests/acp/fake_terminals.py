"""Terminals of the editor of ours: real processes in its own environment, kept and told by it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any

from tests.acp.fake_editor import Editor, Refused

CAN: dict[str, Any] = {"terminal": True}
OWN: dict[str, Any] = {"acp": {"terminal": True}}
THEIRS = {"EDITORS_OWN": "theirs", "CDPATH": "/tmp"}


class Terminal:
    def __init__(self, process: asyncio.subprocess.Process, keeps: int) -> None:
        self.process, self._keeps = process, keeps
        self._printed = bytearray()
        self.truncated = False
        self.reads = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(65536):
            self._printed += data
            if len(self._printed) > self._keeps:
                self.truncated = True
                del self._printed[: -self._keeps]
        await self.process.wait()

    def said(self) -> dict[str, Any]:
        text = self._printed.decode(errors="replace")
        return {"output": text, "truncated": self.truncated}

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.process.returncode is None:
                os.killpg(self.process.pid, signal.SIGKILL)


class Terminals:
    """`broken` is what happens in place of an answer, by method; `made` is what was asked for."""

    def __init__(self, ed: Editor, *, keeps: int = 1 << 30) -> None:
        self.broken: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {}
        self.made: list[dict[str, Any]] = []
        self.released: list[str] = []
        self.killed: list[str] = []
        self.all: dict[str, Terminal] = {}
        self._keeps = keeps
        for name in ("create", "output", "wait_for_exit", "kill", "release"):
            ed.handlers[f"terminal/{name}"] = self._of(name)
        ed.answers("once")

    def _of(self, name: str) -> Callable[[dict[str, Any]], Awaitable[Any]]:
        ways = {"create": self.create, "output": self._output, "wait_for_exit": self._exit,
                "kill": self._kill, "release": self._release}  # fmt: skip

        async def handler(params: dict[str, Any]) -> Any:
            if name in self.broken:
                return await self.broken[name](params)
            return await ways[name](params)

        return handler

    async def create(self, params: dict[str, Any]) -> Any:
        self.made.append(params)
        process = await asyncio.create_subprocess_exec(
            params["command"], *params["args"], cwd=params["cwd"], env={**os.environ, **THEIRS},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        id = f"term-{len(self.made)}"
        self.all[id] = Terminal(process, min(self._keeps, params["outputByteLimit"]))
        return {"terminalId": id}

    def _found(self, params: dict[str, Any]) -> Terminal:
        if params["terminalId"] not in self.all:
            raise Refused({"message": "no such terminal"})
        return self.all[params["terminalId"]]

    async def _output(self, params: dict[str, Any]) -> Any:
        return self._found(params).said()

    async def _exit(self, params: dict[str, Any]) -> Any:
        terminal = self._found(params)
        await asyncio.shield(terminal.reads)
        code = terminal.process.returncode
        assert code is not None
        if code < 0:
            return {"exitCode": None, "signal": signal.Signals(-code).name}
        return {"exitCode": code, "signal": None}

    async def _kill(self, params: dict[str, Any]) -> Any:
        self.killed.append(params["terminalId"])
        self._found(params).kill()
        return {}

    async def _release(self, params: dict[str, Any]) -> Any:
        self.released.append(params["terminalId"])
        self._found(params).kill()
        return {}

    async def close(self) -> None:
        for each in self.all.values():
            each.kill()
            await each.reads


async def never(params: dict[str, Any]) -> Any:
    await asyncio.Event().wait()


async def refuses(params: dict[str, Any]) -> Any:
    raise Refused({"message": "not here"})


async def nonsense(params: dict[str, Any]) -> Any:
    return {"terminalId": 7, "output": ["x"], "exitCode": "zero"}
