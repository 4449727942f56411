"""Durable jobs without an open session: what is due runs as print mode does, each in a process.

The claim is the one of sessions, so nothing runs twice; where a session is open, it runs them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.framing import framed
from gatewright.agent.autonomy.schedules.own_runs import OwnRuns
from gatewright.agent.autonomy.schedules.runs import RunRecord, State
from gatewright.agent.autonomy.schedules.store import Store, ended
from gatewright.agent.autonomy.schedules.timing import Terms, due, last_run
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.settings.groups.autonomy_settings import Autonomy
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


class _Result(msgspec.Struct, frozen=True):
    is_error: bool = False
    total_cost_usd: float = 0.0
    session_id: str = ""
    result: str = ""


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


def in_process(
    root: Path, env: Mapping[str, str], limits: Autonomy, program: Sequence[str]
) -> Start:
    """Runs a job as `agent -p` there. Nobody is asked: what would ask is refused."""

    def start(job: ScheduledJob, prompt: str, rest: float) -> Answer:
        argv = [*program, "-p", "--output-format", "json", "--max-budget-usd", f"{rest:.4f}"]
        argv += ["--permission-mode", job.mode] if job.mode else []
        bound = job.mode or limits.max_mode
        try:
            done = subprocess.run(
                argv,
                cwd=root,
                env={**env, UNATTENDED: bound},
                input=prompt.encode(),
                capture_output=True,
                check=False,
                timeout=limits.max_hours * HOUR,
            )
        except subprocess.TimeoutExpired:
            return Answer(ok=False, why=f"it took more than {limits.max_hours:g} hours")
        except OSError as error:
            return Answer(ok=False, why=f"it could not be started: {error.strerror}")
        return _read(done.stdout, done.stderr, done.returncode)

    return start


def _read(said: bytes, errors: bytes, code: int) -> Answer:
    try:
        result = msgspec.json.decode(said, type=_Result)
    except msgspec.DecodeError:
        told = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return Answer(ok=False, why=told[:200] or f"exit {code}")
    fine = code == 0 and not result.is_error
    why = "" if fine else " ".join(result.result.split())[:200] or f"exit {code}"
    return Answer(fine, result.total_cost_usd, result.session_id, why)
