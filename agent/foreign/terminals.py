"""`terminal/*` of another agent: each terminal is a call of Bash, which ends with its turn."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gatewright.agent.foreign.calls import Calls, Done
from gatewright.agent.foreign.said import CreateTerminal, Variable
from gatewright.agent.foreign.stated import entering
from gatewright.agent.frontends.acp.jsonrpc import BAD_PARAMS, DEFECT, NOT_FOUND, RpcError
from gatewright.agent.record.ids import new_id
from gatewright.tools.protocol import Child, Progress, SpawnRequest, ToolContext
from gatewright.tools.system.patterns import later
from gatewright.tools.system.untyped_json import Json

BASH = "Bash"
LONGEST = 600_000  # ms: what a command may take at most
LONG = 100_000  # characters of a command with its variables
MOST = 32  # terminals that were not released
KEPT = 1024 * 1024  # bytes of output
_NAME = later(r"[A-Za-z_][A-Za-z0-9_]*")


class _Terminal:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.began = asyncio.Event()  # it was allowed, and runs
        self.tail = ""
        self.task: asyncio.Task[Done] | None = None

    def around(self, ctx: ToolContext) -> ToolContext:
        """Every terminal has its own directory, and none outlives the turn."""

        async def spawn(request: SpawnRequest) -> Child:
            child = await ctx.spawn(request)
            self.began.set()
            return child

        def progress(news: Progress) -> None:
            self.tail = news.tail
            ctx.progress(news)

        return msgspec.structs.replace(
            ctx,
            spawn=spawn,
            progress=progress,
            move=_stays,
            jobs=None,
        )

    @property
    def over(self) -> bool:
        return self.task is not None and self.task.done()

    @property
    def status(self) -> Json | None:
        """How it ended, once it has."""
        if self.task is None or not self.task.done():
            return None
        if self.task.cancelled() or self.task.exception() is not None:
            return {"exitCode": None, "signal": "SIGTERM"}
        data = self.task.result().result.data
        code = data.get("exitCode")
        if isinstance(code, int):
            return {"exitCode": code, "signal": None}
        return {"exitCode": None, "signal": "SIGTERM"}

    @property
    def output(self) -> str:
        if not self.over or self.task is None or self.task.cancelled() or self.task.exception():
            return self.tail
        done = self.task.result()
        if done.instead is not None:
            return done.instead
        said = done.result.data.get("stdout")
        return said if isinstance(said, str) else done.text


def _stays(cwd: Path) -> None:
    del cwd


class Terminals:
    def __init__(self) -> None:
        self._open: dict[str, _Terminal] = {}

    async def create(self, calls: Calls, asked: CreateTerminal) -> Json:
        """Answered once it runs, or was refused."""
        if len(self._open) >= MOST:
            raise RpcError(BAD_PARAMS, f"{MOST} terminals are open: release one first.")
        given = {"command": line_of(asked, calls.cwd), "timeout": LONGEST}
        limit = asked.output_byte_limit
        terminal = _Terminal(KEPT if limit is None or limit < 0 else min(limit, KEPT))
        id = f"terminal-{new_id()}"
        terminal.task = asyncio.create_task(calls.run(BASH, given, terminal.around), name=id)
        terminal.task.add_done_callback(_retrieved)
        self._open[id] = terminal
        began = asyncio.create_task(terminal.began.wait())
        try:
            await asyncio.wait({began, terminal.task}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            terminal.task.cancel()
            raise
        finally:
            began.cancel()
        if not terminal.began.is_set():
            del self._open[id]
            if terminal.task.cancelled():
                raise RpcError(DEFECT, "The command was stopped before it began.")
            raise RpcError(DEFECT, terminal.task.result().text)  # or what kept it from that
        return {"terminalId": id}

    def output(self, id: str) -> Json:
        terminal = self._of(id)
        data = terminal.output.encode("utf-8", "replace")
        cut = len(data) > terminal.limit
        text = data[len(data) - terminal.limit :].decode("utf-8", "ignore") if cut else ""
        told = text if cut else data.decode("utf-8", "replace")
        return {"output": told, "truncated": cut, "exitStatus": terminal.status}

    async def exit(self, id: str) -> Json:
        """Has no limit of its own: the command has one, and so has the turn."""
        terminal = self._of(id)
        assert terminal.task is not None
        await asyncio.wait({terminal.task})
        return terminal.status or {}

    async def kill(self, id: str) -> None:
        terminal = self._of(id)
        assert terminal.task is not None
        terminal.task.cancel()
        await asyncio.wait({terminal.task})

    async def release(self, id: str) -> None:
        await self.kill(id)
        self._open.pop(id, None)

    def _of(self, id: str) -> _Terminal:
        found = self._open.get(id)
        if found is None:
            raise RpcError(NOT_FOUND, "There is no such terminal.")
        return found

    async def stop(self) -> None:
        """All that run end; what they printed can still be asked for."""
        tasks = {each.task for each in self._open.values() if each.task is not None}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _retrieved(task: asyncio.Task[Done]) -> None:
    """Whoever has the terminal asks for it, or does not."""
    if not task.cancelled():
        task.exception()


def line_of(asked: CreateTerminal, cwd: str) -> str:
    """What a shell is to run. Without arguments it is a line; with some, a program's name."""
    line = asked.command if not asked.args else shlex.join((asked.command, *asked.args))
    if not line.strip():
        raise RpcError(BAD_PARAMS, "There is no command.")
    before = _given(asked.env or ())
    if asked.cwd and asked.cwd != cwd:
        if not asked.cwd.startswith("/"):
            raise RpcError(BAD_PARAMS, f"The directory {asked.cwd[:200]!r} is no whole path.")
        before = f"{entering(asked.cwd)}{before}"
    if len(before) + len(line) > LONG:
        raise RpcError(BAD_PARAMS, "The command is too long: write it to a file and run that.")
    return f"{before}{line}"


def _given(env: Sequence[Variable]) -> str:
    for each in env:
        if not _NAME.fullmatch(each.name):
            raise RpcError(BAD_PARAMS, f"{each.name[:60]!r} is no name of a variable.")
    return "".join(f"export {each.name}={shlex.quote(each.value)}; " for each in env)
