"""When a job is due: pure arithmetic over its slots, the same whoever asks and however often.

A slot that was claimed is never due again, whatever the clock does; none is ever early.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from cronsim import CronSim, CronSimError

from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events_of_schedules import ScheduledJob

GRACE = 60.0  # seconds; what a session is later than that is missed
LEAST_EVERY = 30.0
MOST_JITTER, SHARE = 300.0, 0.1
SAMPLES = 6  # slots that a job's period is measured by
MOST_SLOTS = 10_000  # that are looked through at once: a week of minutes
NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_INTERVAL = re.compile(r"(?:(\d{1,6})\s*([smhd]))+", re.IGNORECASE)
_PART = re.compile(r"(\d{1,6})\s*([smhd])", re.IGNORECASE)


class ScheduleError(GatewrightError):
    """What is wrong with a time or a job, for who gave it."""


class Due(msgspec.Struct, frozen=True):
    """`slot` is due now, 0 where none is; `late` so many seconds; `next` is when to look again."""

    slot: float = 0.0
    late: float = 0.0
    next: float | None = None
    missed: float = 0.0  # a slot that came and went


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """`since` is when this runner began to look; durable jobs are made up for by `catch_up` s."""

    since: float = 0.0
    catch_up: float = 86_400.0
    jitter: bool = True


def understood(cron: str) -> str:
    """The five fields that are meant. Raises ScheduleError."""
    text = " ".join(NAMED.get(cron.strip().lower(), cron).split())
    if len(text.split()) != 5:
        names = ", ".join(NAMED)
        raise ScheduleError(
            f"'{cron}' is no schedule: five fields (minute hour day month weekday), or {names}."
        )
    try:
        CronSim(text, datetime(2026, 1, 1))
    except (CronSimError, ValueError) as error:
        raise ScheduleError(f"'{cron}' is no schedule: {error}.") from None
    return text


def seconds_of(interval: str) -> float:
    """Of 90s, 5m, 2h30m, 1d. Raises ScheduleError."""
    text = interval.strip()
    if _INTERVAL.fullmatch(text) is None:
        raise ScheduleError(f"'{interval}' is no interval: 90s, 5m, 2h, 1d.")
    total = sum(int(count) * _UNITS[unit.lower()] for count, unit in _PART.findall(text))
    if not LEAST_EVERY <= total <= 366 * 86_400:
        raise ScheduleError(f"'{interval}' is no interval: 30 s at least, a year at most.")
    return float(total)


@lru_cache(maxsize=32)
def zone(name: str) -> ZoneInfo:
    """Raises ScheduleError."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        told = f"The time zone '{name}' is not known here: set TZ to one such as Europe/Berlin."
        raise ScheduleError(told) from None


def local_zone(env: Mapping[str, str], clock: Path = Path("/etc/localtime")) -> str:
    """The name of this machine's zone: TZ, or where its clock's file leads; else UTC."""
    named = env.get("TZ", "").removeprefix(":")
    if named:
        zone(named)
        return named
    _, found, name = os.path.realpath(clock).partition("/zoneinfo/")
    return name.removeprefix("posix/") if found else "UTC"


def tomorrow(now: float, tz: str) -> str:
    """An example of a moment that is still to come."""
    return f"{datetime.fromtimestamp(now + 86_400, zone(tz)):%Y-%m-%dT09:30}"


def moment(at: str, tz: str, now: float) -> float:
    """Of an ISO date and time, meant in the zone where it names none. Raises ScheduleError."""
    try:
        read = datetime.fromisoformat(at.strip())
    except ValueError:
        told = f"'{at}' is no time: say it like {tomorrow(now, tz)}."
        raise ScheduleError(told) from None
    when = (read if read.tzinfo else read.replace(tzinfo=zone(tz))).timestamp()
    if when <= now:
        raise ScheduleError(f"{at} is over already: it is {shown(now, tz)}.")
    return when


def shown(when: float, tz: str) -> str:
    return datetime.fromtimestamp(when, zone(tz or "UTC")).strftime("%Y-%m-%d %H:%M:%S %Z")


def slots(job: ScheduledJob, after: float) -> Iterator[float]:
    """All later than `after`, each once, in their order."""
    if job.at:
        if job.at > after:
            yield job.at
        return
    where = zone(job.tz)
    for each in islice(CronSim(job.cron, datetime.fromtimestamp(after, where)), MOST_SLOTS):
        # Of a doubled hour the first of two moments is meant, which may be over.
        if (slot := each.timestamp()) > after:
            if 0 < job.expires < slot:
                return
            yield slot
            after = slot


def jitter(job: ScheduledJob) -> float:
    """Seconds that its recurring slots begin late, always the same for one job."""
    if not job.cron or job.once:
        return 0.0
    drawn = int.from_bytes(hashlib.blake2b(job.id.encode(), digest_size=4).digest(), "big")
    return drawn / 2**32 * _room(job.cron, job.tz)


@lru_cache(maxsize=256)
def _room(cron: str, tz: str) -> float:
    job = ScheduledJob(id="", prompt="", cron=cron, tz=tz)
    found = list(islice(slots(job, 1_767_225_600.0), SAMPLES))
    periods = [after - before for before, after in pairwise(found)]
    return min([MOST_JITTER, *(SHARE * each for each in periods)]) if periods else 0.0


def due(job: ScheduledJob, now: float, terms: Terms) -> Due:
    """The newest slot that has come and is not claimed, and when the next one comes."""
    if job.paused or (job.once and job.last_slot):
        return Due()
    waits = jitter(job) if terms.jitter else 0.0
    patience = terms.catch_up if job.durable else GRACE
    oldest = now - patience - waits
    begun = min(max(job.made, 0.0 if job.durable else terms.since), now)
    if job.every:
        slot = max(job.last_end, job.last_slot, begun) + job.every
        if 0 < job.expires < slot:
            return Due()
        return Due(slot, now - slot) if slot <= now else Due(next=slot)
    newest, coming = 0.0, None
    after = job.last_slot if job.at else max(job.last_slot, begun, oldest)
    for slot in slots(job, after):
        if slot + waits > now:
            coming = slot + waits
            break
        newest = slot
    late = now - newest - waits
    if not newest or late > patience:
        return Due(next=coming, missed=newest)
    return Due(newest, late, coming)


def last_run(job: ScheduledJob, slot: float) -> bool:
    """Whether no slot comes after this one before the job expires."""
    if job.once or job.at:
        return True
    if not job.expires:
        return False
    if job.every:
        return slot + job.every > job.expires
    return next(slots(job, slot), job.expires + 1) > job.expires
