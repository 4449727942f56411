"""Jobs and their runs as rows for people and models: what runs when, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gatewright.agent.autonomy.schedules.framing import when_of
from gatewright.agent.autonomy.schedules.runs import RunRecord
from gatewright.agent.autonomy.schedules.schedule import Schedule
from gatewright.agent.autonomy.schedules.timing import shown
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.text.money import dollars
from gatewright.tools.blocks import Block, Table

COLUMNS = ("Job", "When", "Next", "Kind", "State", "Task")
RUN_COLUMNS = ("Run", "Slot", "State", "Cost", "Task", "Why")
SHOWN = 30


def job_row(job: ScheduledJob, schedule: Schedule) -> tuple[str, ...]:
    running = any(each.job == job.id for each in schedule.running)
    coming = None if job.paused else schedule.next(job)
    state = "running" if running else f"paused: {job.paused}" if job.paused else "waits"
    if job.durable and not schedule.runner and not running and not job.paused:
        state = "run by another session, or none"
    when = shown(coming, job.tz) if coming is not None else "-"
    return (job.id, when_of(job), when, "durable" if job.durable else "session", state, job.title)


def jobs_table(schedule: Schedule) -> Block:
    return Table(COLUMNS, tuple(job_row(job, schedule) for job in schedule.jobs().values()))


def known_runs(schedule: Schedule) -> Sequence[RunRecord]:
    """Of the project's file and this session, the newest first."""
    stored = schedule.stored_runs()
    return sorted({**stored, **schedule.runs.known}.values(), key=lambda run: -run.at)


def runs_table(runs: Iterable[RunRecord], tz: str) -> Block:
    rows = tuple(
        (run.run, shown(run.slot, tz), run.state, dollars(run.cost), run.title, run.reason)
        for run in list(runs)[:SHOWN]
    )
    return Table(RUN_COLUMNS, rows)
