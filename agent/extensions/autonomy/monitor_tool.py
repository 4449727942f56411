"""Monitor: a command whose lines come to the model while it runs; judged and confined like Bash."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.autonomy.monitor.line_notices import Events
from gatewright.agent.autonomy.monitor.watch import Watch
from gatewright.agent.text.in_time import in_time
from gatewright.tools.access import Access, Row, ShellText, Where
from gatewright.tools.blocks import Block, Command
from gatewright.tools.inert import inert
from gatewright.tools.plain import Input, StructTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult
from gatewright.tools.shell.environment import BashFinder, child_environment
from gatewright.tools.shell.shelljob import Shell, start
from gatewright.tools.shell.snapshot import snapshot

if TYPE_CHECKING:
    from gatewright.agent.extensions.autonomy.autonomy_session import AutonomySession

USUAL, MOST = 300.0, 1800.0  # seconds
PATTERN = 0.2  # seconds of the processor that a pattern may take for one line


class MonitorInput(Input, frozen=True):
    command: Annotated[str, Meta(min_length=1)]
    description: str
    match: str = ""
    timeout: Annotated[float, Meta(gt=0)] = USUAL
    persistent: bool = False


class Monitor(StructTool[MonitorInput]):
    name, input = "Monitor", MonitorInput
    row = Row("shell", "command")

    def __init__(self, opened: Callable[[], AutonomySession]) -> None:
        self._opened = opened
        self._bash = BashFinder()
        self._snapshot: asyncio.Task[Path | None] | None = None

    def access(self, input: MonitorInput, where: Where) -> Access:
        return Access(runs=ShellText(input.command, where.cwd))

    def title(self, input: MonitorInput, where: Where) -> tuple[str, str]:
        del where
        return "Watch", input.command

    def view(self, input: MonitorInput, result: ToolResult | None) -> Sequence[Block]:
        del result
        return (Command(input.command, note=input.description),)

    async def run(self, input: MonitorInput, ctx: ToolContext) -> Run:
        if ctx.jobs is None or "\0" in input.command:
            raise ToolFailure("Nothing can be watched here, or the command holds a NUL.")
        matches = _matching(input.match)
        program, env = self._bash(ctx), child_environment(ctx.env, ctx.secrets)
        if self._snapshot is None or self._snapshot.cancelled():
            self._snapshot = asyncio.create_task(snapshot(program, env, ctx))
        job = await start(
            Shell(
                command=input.command,
                program=program,
                cwd=ctx.where.cwd,
                env=env,
                snapshot=await self._snapshot,
            ),
            ctx,
        )
        job.keep_file()
        file = str(job.work_file or "its output")
        tell = partial(self._opened().watched, ctx.agent, in_line(input.description)[:200], file)
        seconds = None if input.persistent else min(input.timeout, MOST)
        watch = Watch(job, input.description, Events(matches, inert), tell, seconds=seconds)
        id = ctx.jobs.adopt(watch)
        ctx.jobs.told(id)  # its last notice is its end
        until = "until it ends" if seconds is None else f"for {seconds:g} s at most"
        text = (
            f"Watching as {id}, {until}; all it prints: {file}. Its lines come to you as they are "
            "printed, and its end: go on with other work or end your turn. TaskStop ends it."
        )
        yield ToolResult.text(text, summary=id, data={"backgroundTaskId": id})


def _matching(pattern: str) -> Callable[[str], bool] | None:
    if not pattern:
        return None
    try:
        found = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolFailure(f"match is no regular expression: {error}.") from None
    return lambda line: in_time(lambda: found.search(line) is not None, PATTERN)
