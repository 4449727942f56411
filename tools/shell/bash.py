"""Bash: run a command in a shell whose directory persists; nothing it starts outlives it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, nullcontext
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from gatewright.tools.access import Access, ShellText, Where
from gatewright.tools.blocks import Block, Command, Output
from gatewright.tools.files.preview import Missing, preview
from gatewright.tools.files.shown_files import note_shown
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import Progress, Run, ToolContext, ToolFailure, ToolResult
from gatewright.tools.shell.environment import BashFinder, child_environment
from gatewright.tools.shell.shelljob import Shell, ShellJob, ShellLimits, start
from gatewright.tools.shell.snapshot import snapshot
from gatewright.tools.system.patterns import later

DEFAULT_SECONDS = 120.0
MAX_SECONDS = 600.0
DROPPED = "The editor keeps only the end of a long output: some of it may be missing"
INTERRUPTED = "The person interrupted the command; all it had started was ended."


class BashInput(Input, frozen=True):
    command: Annotated[str, Meta(min_length=1)]
    description: Annotated[str, Meta(description="In 5-10 words")] | None = None
    timeout: Annotated[float, Meta(gt=0, description="ms, at most 600000")] | None = None
    run_in_background: Annotated[bool, Meta(description="You are told when it ends")] = False
    dangerouslyDisableSandbox: Annotated[bool, Meta(description="Only after it made it fail")] = (
        False
    )


class Bash(InputTool[BashInput]):
    name = "Bash"
    input = BashInput
    prompt = "bash.md"

    def __init__(self, limits: ShellLimits | None = None) -> None:
        self._limits = limits or ShellLimits()
        self._snapshot: asyncio.Task[Path | None] | None = None
        self._bash = BashFinder()

    def access(self, input: BashInput, where: Where) -> Access:
        return Access(runs=ShellText(input.command, where.cwd, input.dangerouslyDisableSandbox))

    def title(self, input: BashInput, where: Where) -> tuple[str, str]:
        del where
        return "Run", input.command

    def loop_key(self, input: BashInput) -> str:
        return input.command  # described in other words it is the same command

    async def run(self, input: BashInput, ctx: ToolContext) -> Run:
        if "\0" in input.command:
            raise ToolFailure("The command contains a NUL character; a shell cannot take that.")
        if input.run_in_background and ctx.jobs is None:
            raise ToolFailure("Nothing can run in the background here. Run it in the foreground.")
        program, env = self._bash(ctx), child_environment(ctx.env, ctx.secrets)
        if self._snapshot is None or self._snapshot.cancelled():
            self._snapshot = asyncio.create_task(snapshot(program, env, ctx))
        shell = Shell(
            command=input.command,
            program=program,
            cwd=ctx.where.cwd,
            env=env,
            snapshot=await self._snapshot,
            limits=self._limits,
        )
        job = await start(shell, ctx)
        if input.run_in_background and ctx.jobs is not None:
            job.keep_file()
            yield _started(ctx.jobs.adopt(job), job)
            return
        async with aclosing(self._watched(job, input, ctx)) as items:
            async for item in items:
                yield item

    async def _watched(
        self, job: ShellJob, input: BashInput, ctx: ToolContext
    ) -> AsyncGenerator[Progress | ToolResult, None]:
        """Its progress and how it ended; it ends with this, or goes on in the background."""
        owned = True
        try:
            seconds = min((input.timeout or DEFAULT_SECONDS * 1000) / 1000, MAX_SECONDS)
            with ctx.jobs.foreground() if ctx.jobs else nullcontext(asyncio.Event()) as leave:
                async for progress in job.watch(seconds, leave):
                    yield progress
            if job.running and ctx.jobs is not None:
                job.keep_file()
                owned = False
                id = ctx.jobs.adopt(job)
                yield _sent(id, job) if leave.is_set() else _moved(id, job, seconds)
                return
            if job.running:
                await job.expire(seconds)
            if job.code == 0 and not (job.hidden_lines or job.dropped or job.lost):
                note_shown(input.command, ctx.where.cwd, ctx)
            yield _result(job, input.command, ctx)
        except asyncio.CancelledError:
            await job.stop()
            ctx.leave(_left(job))
            raise
        finally:
            if owned:
                await job.stop()

    def view(self, input: BashInput, result: ToolResult | None) -> Sequence[Block]:
        command = Command(input.command, note=input.description or "")
        if result is None:
            return (command,)
        data = result.data
        missing = Missing(int(data.get("hiddenLines", 0)), int(data.get("hiddenAt", 0)))
        text, hidden = preview(str(data.get("stdout", "")), missing)
        return (Output(text, exit=data.get("exitCode"), hidden_lines=hidden),)


def _started(id: str, job: ShellJob) -> ToolResult:
    text = f"Running in the background as {id}. Output: {job.work_file}. Its end will be told."
    return ToolResult.text(text, summary=f"background {id}", data={"backgroundTaskId": id})


def _moved(id: str, job: ShellJob, seconds: float) -> ToolResult:
    question = job.asking()
    why = (
        f"It seems to wait for input ({question!r}), which it will never get: stop it with TaskStop"
        " and use flags that need no answer."
        if question
        else f"It did not end within {seconds:g} s and goes on in the background."
    )
    return _going_on(id, job, f"{why} Task {id}; output: {job.work_file}")


def _sent(id: str, job: ShellJob) -> ToolResult:
    return _going_on(
        id,
        job,
        f"The person sent it to the background, where it goes on as task {id}. Output: "
        f"{job.work_file}. TaskOutput shows what comes, TaskStop ends it; its end will be told.",
    )


def _going_on(id: str, job: ShellJob, why: str) -> ToolResult:
    """What it printed so far is in this result: for TaskOutput it is no news."""
    data = {**job.shown(), "backgroundTaskId": id}
    job.news()
    text = f"{data['stdout'].rstrip()}\n\n[{why}]".lstrip("\n")
    return ToolResult.text(text, summary=f"background {id}", data=data)


def _result(job: ShellJob, command: str, ctx: ToolContext) -> ToolResult:
    shown = job.shown()
    output = str(shown["stdout"]).rstrip("\n")
    notes = [_settle_directory(job, ctx)]
    if job.stopped:
        notes.append(f"The command was {job.stopped}; all it had started was ended.")
    if job.lost:
        notes.append(f"The command was lost: {job.lost}. What it had started here was ended")
    if job.dropped:
        notes.append(DROPPED)
    known = not (job.stopped or job.lost)
    fine = known and (job.code == 0 or _means_no(command, job.code))
    if job.code and known:
        notes.append(f"Exit code {job.code}")
    parts = [output, *(f"[{note}]" for note in notes if note)]
    text = "\n".join(part for part in parts if part) or "[no output]"
    data = {
        **shown,
        "stdout": output,
        "stderr": "",
        "interrupted": bool(job.stopped or job.lost),
        "exitCode": job.code,
    }
    summary = (
        job.stopped or ("lost" if job.lost else "") or (f"exit {job.code}" if job.code else "done")
    )
    result = ToolResult.text(text, summary=summary, data=data)
    return (
        result if fine else ToolResult(ok=False, content=result.content, summary=summary, data=data)
    )


def _left(job: ShellJob) -> ToolResult:
    """What an interrupted command had printed; it was paid for with time."""
    shown = job.shown()
    output = str(shown["stdout"]).rstrip("\n")
    text = f"{output}\n[{INTERRUPTED}]".lstrip("\n")
    data = {**shown, "stdout": output, "stderr": "", "interrupted": True, "exitCode": None}
    content = ToolResult.text(text).content
    return ToolResult(ok=False, content=content, summary="interrupted", data=data)


_NO = later(
    r"^\s*(?:\w+=\S*\s+)*(?:grep|egrep|fgrep|rg|diff|cmp|test|\[|git\s+(?:-\S+\s+)*(?:diff|grep))(?:\s|$)"
)


def _means_no(command: str, code: int | None) -> bool:
    """Exit 1 of a search or comparison is an answer, not an error."""
    last = re.split(r"\|\||&&|[|;\n]", command.rstrip())[-1]
    return code == 1 and _NO.match(last) is not None


def _settle_directory(job: ShellJob, ctx: ToolContext) -> str:
    """Let later calls start where the shell ended, if that is inside; else say they do not.

    A command can write what its shell says at its end: no part of it is believed unresolved.
    """
    if not job.cwd or job.cwd == str(ctx.where.cwd):
        return ""
    now = Path(job.cwd).resolve()
    if not job.cwd.startswith("/") or not job.cwd.isprintable() or not now.is_dir():
        return f"The current directory stays {ctx.where.cwd}"
    inside = (ctx.where.root, *ctx.where.added)
    if any(now.is_relative_to(directory.resolve()) for directory in inside):
        ctx.move(now)
        return f"The current directory is now {now}"
    if now == ctx.where.cwd.resolve():
        return ""
    ctx.move(ctx.where.root)
    return f"{now} is outside the project: the current directory is {ctx.where.root} again"
