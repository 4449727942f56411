"""`.gatewright/HEARTBEAT.md` of a trusted project: its tasks, as durable jobs that follow the file.

tasks:
  - name: build
    every: 30m
    prompt: look whether the build is green
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.timing import ScheduleError
from gatewright.agent.autonomy.schedules.wanted import job_of
from gatewright.agent.record.events_of_schedules import ScheduledJob

FILE = "HEARTBEAT.md"
MOST_BYTES = 64_000
MOST_TASKS = 20
LEAD = "beat_"  # of the ids of such jobs
_FENCE = re.compile(r" {0,3}(```|~~~)")
_ENTRY = re.compile(r"\s*(-?)\s*(name|every|cron|prompt)\s*:\s*(.*)")


class Beats(msgspec.Struct, frozen=True):
    jobs: tuple[ScheduledJob, ...] = ()
    problems: tuple[str, ...] = ()


def beats_of(text: str, env: Mapping[str, str], now: float) -> Beats:
    """What a file asks for; what cannot be is said, and the rest counts."""
    jobs: dict[str, ScheduledJob] = {}
    problems: list[str] = []
    for number, task in enumerate(_tasks(text), 1):
        if number > MOST_TASKS:
            problems.append(f"{FILE}: only its first {MOST_TASKS} tasks count.")
            break
        try:
            job = _job(task, env, now)
            jobs[job.id] = job
        except ScheduleError as error:
            problems.append(f"{FILE}, task {number}: {error}")
    return Beats(tuple(jobs.values()), tuple(problems))


def followed(before: Sequence[ScheduledJob], now: Sequence[ScheduledJob]) -> list[ScheduledJob]:
    """All jobs of a store once the file is as it is now; what stays keeps its times."""
    wanted = {job.id: job for job in now}
    kept = [job for job in before if not job.id.startswith(LEAD) or job.id in wanted]
    known = {job.id for job in kept}
    return [*kept, *(job for job in now if job.id not in known)]


def _job(task: Mapping[str, str], env: Mapping[str, str], now: float) -> ScheduledJob:
    """Raises ScheduleError. It is another one when any word of it changes."""
    job = job_of(
        prompt=task.get("prompt", ""),
        env=env,
        now=now,
        cron=task.get("cron", ""),
        every=task.get("every", ""),
    )
    said = "\0".join((task.get("name", ""), job.cron, str(job.every), job.prompt, job.tz))
    id = f"{LEAD}{hashlib.blake2b(said.encode(), digest_size=5).hexdigest()}"
    return replace(job, id=id, name=task.get("name", "")[:60], durable=True, made=now)


def _tasks(text: str) -> Iterator[dict[str, str]]:
    """The entries below `tasks:`, outside of fenced text."""
    task: dict[str, str] = {}
    fenced = listed = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        if fenced or not line.strip():
            continue
        if not line[:1].isspace() and not line.startswith("-"):
            listed = line.strip() == "tasks:"
        if not listed or (found := _ENTRY.fullmatch(line.rstrip())) is None:
            continue
        if found[1] and task:
            yield task
            task = {}
        task[found[2]] = _unquoted(found[3].strip())
    if task:
        yield task


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text
