"""/schedule, /loop and /autonomy: what begins by itself here, as the person sees and steers it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.framing import when_of
from gatewright.agent.autonomy.schedules.timing import (
    ScheduleError,
    local_zone,
    seconds_of,
    shown,
)
from gatewright.agent.autonomy.schedules.wanted import MOST_PROMPT, from_line, job_of, usage
from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.autonomy.job_rows import (
    jobs_table,
    known_runs,
    runs_table,
)
from gatewright.agent.extensions.host import Host
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.text.money import dollars
from gatewright.permissions import modes
from gatewright.tools.blocks import Block, Text
from gatewright.tools.system.project import FOLDER

if TYPE_CHECKING:
    from gatewright.agent.extensions.autonomy.autonomy_session import AutonomySession

OFF = "Autonomy is off: the setting autonomy.enabled, or GATEWRIGHT_DISABLE_AUTONOMY."
LOOP_FILE = "loop.md"
LOOP_FORM = "Say what to loop over, such as /loop 5m PROMPT or /loop PROMPT"


async def run(
    name: str, args: str, host: Host, opened: Callable[[], AutonomySession], *, on: bool
) -> Outcome:
    if not on:
        return Problem.of(OFF)
    try:
        match name:
            case "loop":
                return _loop(args, host, opened())
            case "autonomy":
                return _autonomy(args, host, opened())
            case _:
                return _schedule(args, host, opened())
    except GatewrightError as error:
        return Problem.of(str(error))


def _schedule(args: str, host: Host, session: AutonomySession) -> Outcome:
    schedule = session.schedule
    verb, _, id = args.partition(" ")
    id = id.strip()
    match verb:
        case "" | "list":
            schedule.begin()
            if schedule.jobs():
                return Say((jobs_table(schedule),))
            return Say.text(f"No jobs here. {usage(host.env, time.time())}")
        case "runs":
            zone = local_zone(host.env)
            runs = known_runs(schedule)
            return Say((runs_table(runs, zone),)) if runs else Say.text("Nothing has run yet.")
        case "rm" | "pause" | "resume" | "run":
            return _changed(verb, id, session)
        case _:
            rest = args.removeprefix("add ")
            job = from_line(rest, host.env, time.time())
            return _added(_allowed(job), session)


def _allowed(job: ScheduledJob) -> ScheduledJob:
    """Raises ScheduleError for a mode that nobody knows."""
    if not job.mode:
        return job
    try:
        return replace(job, mode=modes.resolve(job.mode))
    except ValueError as error:
        raise ScheduleError(str(error)) from None


def _changed(verb: str, id: str, session: AutonomySession) -> Outcome:
    schedule = session.schedule
    if id not in schedule.jobs():
        return Problem.of(f"There is no job {id}: /schedule lists them.")
    if verb == "rm":
        schedule.remove(id)
        return Say.text(f"{id} never runs again.")
    if verb == "run":
        schedule.now(id)
        return Say.text(f"{id} runs as soon as no turn does.")
    schedule.pause(id, "by you" if verb == "pause" else "")
    return Say.text(f"{id} is paused." if verb == "pause" else f"{id} goes on.")


def _added(job: ScheduledJob, session: AutonomySession) -> Outcome:
    made = session.schedule.add(job)
    coming = session.schedule.next(made)
    first = f"next {shown(coming, made.tz)}" if coming is not None else "no date ever fits it"
    lines = [f"{made.id}: {when_of(made)}, {first}."]
    if made.expires:
        lines.append(f"It ends {shown(made.expires, made.tz)} (schedules.expireDays).")
    lines.append(
        "It runs in the session that is open then; agent schedule install has the system run it."
        if made.durable
        else "It runs while this session is open, also after it was resumed."
    )
    return Say.text(" ".join(lines))


def _loop(args: str, host: Host, session: AutonomySession) -> Outcome:
    schedule = session.schedule
    loops = [job for job in schedule.own.values() if job.name.startswith("loop")]
    if args == "stop":
        for job in loops:
            schedule.remove(job.id)
        return Say.text("The loop has ended." if loops else "No loop runs.")
    first, _, rest = args.partition(" ")
    every = first if _is_interval(first) else ""
    prompt = (rest if every else args).strip() or _loop_file(host)
    zone, now = local_zone(host.env), time.time()
    job = job_of(prompt=prompt, env=host.env, now=now, every=every or "30s")
    job = replace(job, name=f"loop: {' '.join(prompt.split())}"[:60], tz=zone)
    if not every:
        job = replace(job, every=0.0, at=now, wakes=True)
    made = schedule.add(job)
    if every:
        schedule.now(made.id)
    when = f"every {every} after it has ended" if every else "when the model says"
    return Say.text(f"{made.id} begins now and comes again {when}. /loop stop ends it.")


def _is_interval(word: str) -> bool:
    if not word[:1].isdigit():
        return False
    seconds_of(word)
    return True


def _loop_file(host: Host) -> str:
    """Raises ScheduleError: there is none, or the project is not trusted."""
    path = Path(host.around.where.root) / FOLDER / LOOP_FILE
    if not host.around.trusted:
        raise ScheduleError(
            f"{LOOP_FORM}. Alone it reads {FOLDER}/{LOOP_FILE}, once the project is trusted."
        )
    try:
        found = host.briefing.readable.head(path, MOST_PROMPT).decode("utf-8", "replace").strip()
    except OSError:
        found = ""
    if not found:
        raise ScheduleError(f"{LOOP_FORM}, or write the prompt into {FOLDER}/{LOOP_FILE}.")
    return found


def _autonomy(args: str, host: Host, session: AutonomySession) -> Outcome:
    unattended, schedule = session.unattended, session.schedule
    match args:
        case "pause":
            unattended.pause("You paused it.")
            return Say.text("Paused: nothing begins by itself.")
        case "resume":
            session.resume()
            return Say.text("It goes on: jobs begin by themselves again.")
        case "stop":
            for id in list(schedule.own):
                schedule.remove(id)
            unattended.pause("You stopped it.")
            if unattended.alone:
                host.session.interrupt()
            return Say.text("Stopped: the jobs of this session are gone, and nothing begins.")
        case _:
            return Say(tuple(_told(host, session)))


def _told(host: Host, session: AutonomySession) -> Sequence[Block]:
    limits, unattended = host.around.settings.autonomy, session.unattended
    why = unattended.may()
    found: list[Block] = [
        Text(f"Nothing begins by itself: {why}" if why else "Work may begin by itself."),
        Text(
            f"This session, within an hour: {unattended.turns()} of {limits.max_turns_per_hour} "
            f"turns; within a day: {dollars(unattended.spent())} of "
            f"{dollars(limits.max_budget_usd_per_day)}; at most {limits.max_mode}; questions wait "
            f"{_wait(limits.ask_wait)}.",
            "dim",
        ),
    ]
    if session.schedule.jobs():
        found.append(jobs_table(session.schedule))
    if runs := known_runs(session.schedule):
        found.append(runs_table(runs[:5], local_zone(host.env)))
    return found


def _wait(minutes: float | str) -> str:
    return "until you answer" if isinstance(minutes, str) else f"{minutes:g} min"
