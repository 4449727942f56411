"""CronCreate, CronList, CronDelete and Sleep: the model plans what comes to it later."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.framing import when_of
from gatewright.agent.autonomy.schedules.timing import (
    ScheduleError,
    local_zone,
    moment,
    shown,
)
from gatewright.agent.autonomy.schedules.wanted import job_of
from gatewright.agent.autonomy.tool_specs import CREATE, DELETE, LIST, MONITOR, SLEEP
from gatewright.agent.extensions.autonomy.job_rows import job_row, known_runs
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.tools.access import MAIN, Access, Effect, Row, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import Progress, Run, Tool, ToolContext, ToolFailure, ToolResult

if TYPE_CHECKING:
    from gatewright.agent.extensions.autonomy.autonomy_session import AutonomySession

Opened = Callable[[], "AutonomySession"]
WARM = 270.0  # seconds that a call waits: the provider's cache stays warm so long
LONGEST = 86_400.0 * 7
NOT_MAIN = "Only the main agent of a session plans what comes later."
NO_RUNNER = (
    " No session runs durable jobs while none is open here: the person can put them into the "
    "system's own scheduler with agent schedule install."
)


class CreateInput(msgspec.Struct, frozen=True):
    prompt: str
    cron: str = ""
    at: str = ""
    every: str = ""
    recurring: bool = True
    durable: bool = False
    name: str = ""


class CronCreate(StructTool[CreateInput]):
    name, input = CREATE, CreateInput
    row = Row("other", "prompt", ("cron", "at", "every", "name"))

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def access(self, input: CreateInput, where: Where) -> Access:
        """What outlives the session is asked about, and a command: those are the person's."""
        del where
        asks = input.durable or input.prompt.lstrip().startswith("/")
        return Access() if asks else Access(effects=Effect.FREE)

    def title(self, input: CreateInput, where: Where) -> tuple[str, str]:
        del where
        when = input.cron or input.at or (f"every {input.every}" if input.every else "")
        return "Schedule", f"{when}: {input.name or input.prompt}"

    def view(self, input: CreateInput, result: ToolResult | None) -> Sequence[Block]:
        return (Text(input.prompt),) if result is None else ()

    async def run(self, input: CreateInput, ctx: ToolContext) -> Run:
        if ctx.agent != MAIN:
            raise ToolFailure(NOT_MAIN)
        schedule = self._opened().schedule
        try:
            job = job_of(
                prompt=input.prompt,
                env=os.environ | dict(ctx.env),
                now=time.time(),
                cron=input.cron,
                at=input.at,
                every=input.every,
            )
            once = job.once or not input.recurring
            wanted = replace(job, once=once, durable=input.durable, name=input.name[:60])
            made = schedule.add(wanted)
        except ScheduleError as error:
            raise ToolFailure(str(error)) from None
        yield ToolResult.text(created(made, schedule.next(made)), summary=made.id)


def created(job: ScheduledJob, coming: float | None) -> str:
    first = f"next {shown(coming, job.tz)}" if coming is not None else "never: no date fits it"
    ends = f" It ends {shown(job.expires, job.tz)}." if job.expires else ""
    kind = "" if job.durable else " It runs while this session is open, between turns."
    durable = NO_RUNNER if job.durable else ""
    return f"{job.id}: {when_of(job)}, {first}.{ends}{kind}{durable}"


class Nothing(msgspec.Struct, frozen=True):
    pass


class CronList(StructTool[Nothing]):
    name, input, effects = LIST, Nothing, Effect.FREE | Effect.READ_ONLY
    row = Row("free")

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    async def run(self, input: Nothing, ctx: ToolContext) -> Run:
        del input, ctx
        schedule = self._opened().schedule
        jobs = [" | ".join(job_row(job, schedule)) for job in schedule.jobs().values()]
        runs = [
            f"{run.run} {run.job} {run.state} {run.reason}".rstrip()
            for run in known_runs(schedule)[:10]
        ]
        text = "\n".join([*(jobs or ["No jobs."]), *(["Last runs:", *runs] if runs else [])])
        yield ToolResult.text(text, summary=f"{len(jobs)}")


class DeleteInput(msgspec.Struct, frozen=True):
    id: str


class CronDelete(StructTool[DeleteInput]):
    name, input, effects = DELETE, DeleteInput, Effect.FREE
    row = Row("free", "id")

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def access(self, input: DeleteInput, where: Where) -> Access:
        """What the person keeps beyond this session is asked about."""
        del where
        own = input.id in self._opened().schedule.own
        return Access(effects=Effect.FREE) if own else Access()

    def title(self, input: DeleteInput, where: Where) -> tuple[str, str]:
        del where
        return "Unschedule", input.id

    async def run(self, input: DeleteInput, ctx: ToolContext) -> Run:
        del ctx
        try:
            gone = self._opened().schedule.remove(input.id)
        except ScheduleError as error:
            raise ToolFailure(str(error)) from None
        if not gone:
            raise ToolFailure(f"There is no job {input.id}: CronList names them.")
        yield ToolResult.text(f"{input.id} never runs again.", summary="deleted")


class SleepInput(msgspec.Struct, frozen=True):
    reason: str
    seconds: float = 0.0
    until: str = ""


class Sleep(StructTool[SleepInput]):
    name, input, effects = SLEEP, SleepInput, Effect.FREE | Effect.READ_ONLY
    row = Row("free")
    time_limit = WARM + 30

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def loop_key(self, input: SleepInput) -> str:
        del input
        return ""  # to wait again is the point

    def title(self, input: SleepInput, where: Where) -> tuple[str, str]:
        del where
        return "Sleep", f"{input.until or f'{input.seconds:g} s'}: {input.reason}"

    async def run(self, input: SleepInput, ctx: ToolContext) -> Run:
        seconds = self._seconds(input)
        session = self._opened()
        if seconds > WARM or session.looping:
            if ctx.agent != MAIN:
                raise ToolFailure(f"{NOT_MAIN} Sleep {WARM:g} seconds at most.")
            yield self._later(session, seconds, input.reason)
            return
        began = time.monotonic()
        yield Progress(f"until {seconds:g} s are over", seconds=0.0)
        early = await session.slept(ctx.agent, seconds)
        slept = time.monotonic() - began
        text = f"Slept {slept:.0f} s." + (f" Ended early: {early}." if early else "")
        yield ToolResult.text(text, summary=f"{slept:.0f} s")

    def _seconds(self, input: SleepInput) -> float:
        now = time.time()
        try:
            zone = local_zone(os.environ)
            seconds = moment(input.until, zone, now) - now if input.until else input.seconds
        except ScheduleError as error:
            raise ToolFailure(str(error)) from None
        if not 0 < seconds <= LONGEST:
            raise ToolFailure("Say how many seconds, a week at most, or until when.")
        return seconds

    def _later(self, session: AutonomySession, seconds: float, reason: str) -> ToolResult:
        try:
            when = session.wake(seconds, reason)
        except ScheduleError as error:
            raise ToolFailure(str(error)) from None
        text = f"You are woken {when} with this reason. Your turn ends here."
        return replace(ToolResult.text(text, summary=f"until {when}"), completes=True)


_TOOLS: dict[str, Callable[[Opened], Tool[Any]]] = {
    CREATE: CronCreate,
    LIST: CronList,
    DELETE: CronDelete,
    SLEEP: Sleep,
}


def tool_of(name: str, opened: Opened) -> Tool[Any]:
    if name == MONITOR:
        from gatewright.agent.extensions.autonomy.monitor_tool import Monitor  # noqa: PLC0415  lazy: with a call

        return Monitor(opened)
    return _TOOLS[name](opened)
