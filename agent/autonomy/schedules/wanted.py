"""What a person or a model says of a job, read into one: the same words everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.timing import (
    ScheduleError,
    local_zone,
    moment,
    seconds_of,
    tomorrow,
    understood,
    zone,
)
from gatewright.agent.record.events_of_schedules import ScheduledJob

MOST_PROMPT = 20_000
_FLAG = re.compile(r"--(durable|once|name|mode)(?:=(\"[^\"]*\"|\S+))?\s*")


def job_of(
    *,
    prompt: str,
    env: Mapping[str, str],
    now: float,
    cron: str = "",
    at: str = "",
    every: str = "",
) -> ScheduledJob:
    """Raises ScheduleError."""
    if sum(map(bool, (cron, at, every))) != 1:
        raise ScheduleError("Give one of cron, at and every.")
    if not prompt.strip() or len(prompt) > MOST_PROMPT:
        raise ScheduleError(f"A job needs a prompt, of {MOST_PROMPT:,} characters at most.")
    tz = local_zone(env)
    zone(tz)
    job = ScheduledJob(id="", prompt=prompt.strip(), tz=tz)
    if cron:
        return replace(job, cron=understood(cron))
    if at:
        return replace(job, at=moment(at, tz, now), once=True)
    return replace(job, every=seconds_of(every))


def from_line(line: str, env: Mapping[str, str], now: float) -> ScheduledJob:
    """As a person writes it. Raises ScheduleError."""
    rest, flags = line.strip(), dict[str, str]()
    while (found := _FLAG.match(rest)) is not None:
        flags[found[1]] = (found[2] or "").strip('"')
        rest = rest[found.end() :]
    when, prompt = _parted(rest, env, now)
    job = job_of(prompt=prompt, env=env, now=now, **when)
    return replace(
        job,
        durable="durable" in flags,
        once=job.once or "once" in flags,
        name=flags.get("name", ""),
        mode=flags.get("mode", ""),
    )


def usage(env: Mapping[str, str], now: float) -> str:
    once = tomorrow(now, local_zone(env))
    return f"Say when and what: every 30m PROMPT, at {once} PROMPT, or 0 9 * * 1-5 PROMPT."


def _parted(text: str, env: Mapping[str, str], now: float) -> tuple[dict[str, str], str]:
    word, _, rest = text.partition(" ")
    if word in ("every", "at"):
        when, _, prompt = rest.strip().partition(" ")
        return {word: when}, prompt
    if word.startswith("@"):
        return {"cron": word}, rest
    fields = text.split(None, 5)
    if len(fields) < 6:
        raise ScheduleError(usage(env, now))
    return {"cron": " ".join(fields[:5])}, fields[5]
