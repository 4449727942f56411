"""Durable jobs without an open session: what is due runs in the background, a session each.

The claim is the one of sessions, so nothing runs twice; where a session is open, it runs them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.running.ending import gone, stop
from gatewright.agent.autonomy.running.running_record import seen
from gatewright.agent.autonomy.running.socket_places import record_file
from gatewright.agent.autonomy.running.start_background import Manner
from gatewright.agent.autonomy.running.start_background import start as begin
from gatewright.agent.autonomy.schedules.framing import framed
from gatewright.agent.autonomy.schedules.own_runs import OwnRuns
from gatewright.agent.autonomy.schedules.runs import RunRecord, State
from gatewright.agent.autonomy.schedules.store import Store, ended
from gatewright.agent.autonomy.schedules.timing import Terms, due, last_run
from gatewright.agent.errors import SessionError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.settings.groups.autonomy_settings import Autonomy, Bg
from gatewright.agent.settings.paths import own_home
from gatewright.tools.system.locks import held

UNATTENDED = "GATEWRIGHT_UNATTENDED"  # the mode that bounds the whole session
OPEN = "A session is open here: it runs them."
HOUR, DAY = 3600.0, 86400.0


class Answer(msgspec.Struct, frozen=True):
    """What a process said of its run."""

    ok: bool
    cost: float = 0.0
    session: str = ""
    why: str = ""


Start = Callable[[ScheduledJob, str, float], Answer]  # with the prompt, and dollars it may cost


def run_due(
    store: Store, limits: Autonomy, terms: Terms, *, now: Callable[[], float], start: Start
) -> Sequence[RunRecord] | str:
    """What was run, or why nothing was."""
    if not limits.enabled:
        return "Settings turn autonomy off."
    if not store.jobs():
        return ()
    with held(store.runner, wait=False) as free:
        if not free:
            return OPEN
        store.settle(now())
        found = (_one(store, job, limits, terms, now, start) for job in store.jobs().values())
        return [each for each in found if each is not None]


def _one(
    store: Store,
    job: ScheduledJob,
    limits: Autonomy,
    terms: Terms,
    now: Callable[[], float],
    start: Start,
) -> RunRecord | None:
    found = due(job, now(), terms)
    if not found.slot:
        return None
    why, rest = _refused(store, limits, now())
    record = OwnRuns("", store).begun(job, found, why, now())
    claimed = store.claim(job.id, found.slot, record)
    if claimed is None:
        return None
    over = last_run(job, found.slot)
    if not why:
        store.record(replace(record, state="running", at=now()))
        answer = Answer(ok=False, why="it was interrupted")
        try:
            prompt = framed(claimed, found.slot, late=found.late, last=over)
            answer = start(claimed, prompt, rest)
        finally:
            state: State = "succeeded" if answer.ok else "failed"
            record = replace(record, state=state, cost=answer.cost, reason=answer.why, at=now())
            record = replace(record, session=answer.session)
            store.record(record)
            store.change(job.id, lambda each: ended(each, now(), ok=answer.ok))
    if over:
        store.remove(job.id)
    return record


def _refused(store: Store, limits: Autonomy, now: float) -> tuple[str, float]:
    """Why nothing more may run now, and how many dollars are left of the day."""
    runs = [each for each in store.runs.now().values() if each.state != "skipped"]
    turns = sum(now - each.at < HOUR for each in runs)
    rest = limits.max_budget_usd_per_day - sum(e.cost for e in runs if now - e.at < DAY)
    if turns >= limits.max_turns_per_hour:
        return f"{turns} runs began within an hour", rest
    return ("" if rest > 0 else "the day's budget is spent"), rest


def in_background(
    root: Path, env: Mapping[str, str], limits: Autonomy, most: Bg, program: Sequence[str]
) -> Start:
    """Runs a job as a session in the background, which ends with its work: it is seen, looked at
    and ended as every other one, and its questions wait as theirs do."""

    def start(job: ScheduledJob, prompt: str, rest: float) -> Answer:
        options = LaunchOptions(
            prompt=prompt, mode=job.mode, max_budget_usd=rest, name=job.title, cwd=str(root)
        )
        bound = {**env, UNATTENDED: job.mode or limits.max_mode}
        manner = Manner(here=not (root / ".git").exists(), once=True, unattended=True)
        home = own_home(env)
        try:
            begun = begin(options, bound, most, manner, program).record
            seconds = limits.max_hours * HOUR
            if not gone(begun, seconds):
                stop(home, begun)
                return Answer(ok=False, why=f"it took more than {limits.max_hours:g} hours")
        except SessionError as error:
            return Answer(ok=False, why=str(error))
        found = seen(record_file(home, begun.id), time.time())
        if found is None:
            return Answer(ok=False, session=begun.id, why="it left nothing behind")
        end = found.record
        fine = end.state == "done"
        return Answer(fine, end.cost, end.id, "" if fine else end.why or end.state)

    return start
