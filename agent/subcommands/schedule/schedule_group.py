"""`agent schedule`: durable jobs of the project here, and the system's own scheduler for them."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from gatewright.agent.autonomy.running.start_background import ourselves
from gatewright.agent.autonomy.schedules.framing import when_of
from gatewright.agent.autonomy.schedules.heartbeat import FILE, MOST_BYTES, beats_of
from gatewright.agent.autonomy.schedules.installing import Installation, installation, with_line
from gatewright.agent.autonomy.schedules.store import Store, store_of
from gatewright.agent.autonomy.schedules.system_runs import in_background, run_due
from gatewright.agent.autonomy.schedules.timing import (
    ScheduleError,
    Terms,
    due,
    local_zone,
    shown,
)
from gatewright.agent.autonomy.schedules.wanted import from_line
from gatewright.agent.settings.paths import user_home
from gatewright.agent.subcommands.place import Here, here, refuse_inside_session
from gatewright.agent.subcommands.tell import tell
from gatewright.permissions.modes import flag_mode
from gatewright.tools.system.programs import find
from gatewright.tools.system.project import FOLDER
from gatewright.tools.system.regular import read_regular

group = typer.Typer(help="Prompts that run by the clock, kept for this project.")
Id = Annotated[str, typer.Argument(help="The id of a job, as agent schedule list shows it.")]
DAY, HOUR, RUNS = 86_400.0, 3600.0, 30
COMMAND_LIMIT = 30.0


def _store(place: Here) -> Store:
    return Store(store_of(place.places.home, place.places.root), place.places.root)


def _terms(place: Here) -> Terms:
    said = place.loaded.settings.schedules
    return Terms(catch_up=said.catch_up * HOUR, jitter=said.jitter)


@group.command(name="list")
def list_() -> None:
    """List the jobs: when each runs next, and what it is."""
    place = here()
    jobs = _store(place).jobs()
    for job in jobs.values():
        coming = due(job, time.time(), _terms(place)).next
        state = f"paused: {job.paused}" if job.paused else ""
        when = state or (f"next {shown(coming, job.tz)}" if coming else "due now")
        tell(f"{job.id}  {when_of(job)}  {when}\n    {job.title}")
    if not jobs:
        tell('No durable jobs here. One: agent schedule add "0 9 * * 1-5" "check the build"')


@group.command()
def runs() -> None:
    """List what came of the last runs, the newest first."""
    zone = local_zone(os.environ)
    known = sorted(_store(here()).runs.now().values(), key=lambda run: -run.at)
    for run in known[:RUNS]:
        tell(f"{shown(run.slot, zone)}  {run.state:<9}  {run.title}  {run.reason}".rstrip())
        if run.session:
            tell(f"    agent --resume {run.session}")
    if not known:
        tell("Nothing has run yet.")


@group.command()
def add(
    when: Annotated[str, typer.Argument(help='"0 9 * * 1-5", @daily, "every 2h", "at TIME".')],
    prompt: Annotated[str, typer.Argument(help="What to do then.")],
    name: Annotated[str, typer.Option(help="What it is called.")] = "",
    once: Annotated[bool, typer.Option("--once", help="Only the next time.")] = False,
    mode: Annotated[str, typer.Option("--permission-mode", help="In place of its cap.")] = "",
) -> None:
    """Keep a job for this project."""
    refuse_inside_session()
    place, now = here(), time.time()
    try:
        named = flag_mode(mode) if mode else ""
    except ValueError as error:
        raise ScheduleError(str(error)) from None
    job = from_line(f"{when} {prompt}", os.environ, now)
    recurring = not (job.once or once)
    expires = now + place.loaded.settings.schedules.expire_days * DAY if recurring else 0.0
    job = replace(job, id=f"job_{secrets.token_hex(4)}", durable=True, once=not recurring)
    job = replace(job, name=name, mode=named, made=now, expires=expires)
    _store(place).add(job)
    coming = due(job, now, _terms(place)).next
    tell(f"{job.id}: {when_of(job)}, next {shown(coming, job.tz) if coming else 'never'}.")
    if expires:
        tell(f"It ends {shown(expires, job.tz)} (schedules.expireDays).")
    tell("A session that is open here runs it; agent schedule install does without one.")


@group.command()
def rm(id: Id) -> None:
    """End a job: it never runs again."""
    refuse_inside_session()
    if not _store(here()).remove(id):
        raise ScheduleError(f"There is no job {id}: agent schedule list shows them.")
    tell(f"{id} never runs again.")


@group.command()
def run() -> None:
    """Run what is due now, without a session; for the system's scheduler."""
    refuse_inside_session()
    place = here()
    settings = place.loaded.settings
    limits = settings.autonomy
    start = in_background(place.places.root, os.environ, limits, settings.bg, ourselves())
    _heartbeat(place)
    done = run_due(_store(place), limits, _terms(place), now=time.time, start=start)
    if isinstance(done, str):
        tell(done, err=True)
        return
    for each in done:
        tell(f"{each.title}: {each.state} {each.reason}".rstrip())
    if any(each.state == "failed" for each in done):
        raise typer.Exit(1)


@group.command()
def install(
    kind: Annotated[str, typer.Option(help="systemd, launchd or cron.")] = "",
    remove: Annotated[bool, typer.Option("--remove", help="Take it out again.")] = False,
) -> None:
    """Have the system run due jobs here, once a minute: shown first, done after a yes."""
    refuse_inside_session()
    place = here()
    argv = (*ourselves(), "schedule", "run")
    made = installation(kind or _usual(), place.places.root, user_home(os.environ), argv)
    tell(made.shown() if not remove else f"Removing {made.name}.")
    if not typer.confirm("Do this?"):
        raise typer.Exit(1)
    _put(made, there=not remove)
    tell("Removed." if remove else "Installed: due jobs run once a minute.")


def _heartbeat(place: Here) -> None:
    """The tasks of a trusted project's file, as they are now."""
    store, text = _store(place), b""
    if place.trusted:
        with contextlib.suppress(OSError):
            text = read_regular(place.places.root / FOLDER / FILE, MOST_BYTES)
    beats = beats_of(text.decode("utf-8", "replace"), os.environ, time.time())
    for problem in beats.problems:
        tell(problem, err=True)
    if beats.jobs or store.jobs():
        store.follow(beats.jobs)


def _usual() -> str:
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if find("systemctl", os.environ, [Path.cwd()]) else "cron"


def _put(made: Installation, *, there: bool) -> None:
    if not there:
        for command in made.off:
            _call(command)
    for path, text in made.files:
        if there:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        else:
            path.unlink(missing_ok=True)
    if made.line:
        table = _call(("crontab", "-l"), fails=True)
        _call(("crontab", "-"), with_line(table, made, there=there))
    if there:
        for command in made.on:
            _call(command)


def _call(command: tuple[str, ...], input: str = "", *, fails: bool = False) -> str:
    """What it printed. Raises ScheduleError where it fails, and may not."""
    program = find(command[0], os.environ, [Path.cwd()])
    if not program:
        raise ScheduleError(f"{command[0]} is not installed here: choose another --kind.")
    done = subprocess.run(
        (program, *command[1:]),
        input=input,
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_LIMIT,
    )
    if done.returncode and not fails:
        raise ScheduleError(f"{' '.join(command)} failed: {done.stderr.strip()[:300]}")
    return done.stdout if done.returncode == 0 else ""
