"""What happens to the jobs of a session: each change of one is told whole, the last one counts."""

from __future__ import annotations

import msgspec

from gatewright.agent.record.event_base import Event


class ScheduledJob(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A prompt and when it runs: by `cron`, once `at` a moment, or `every` so many seconds.

    Times are seconds since the epoch. `last_slot` is the newest slot that was claimed: it and
    `last_end` only grow.
    """

    id: str
    prompt: str
    cron: str = ""
    at: float = 0.0
    every: float = 0.0
    tz: str = ""  # the zone that `cron` is meant in
    name: str = ""
    once: bool = False
    durable: bool = False
    wakes: bool = False  # the model itself says when it goes on
    mode: str = ""  # that the person named for it
    made: float = 0.0
    expires: float = 0.0  # 0: never
    last_slot: float = 0.0
    last_end: float = 0.0
    failures: int = 0  # in a row
    paused: str = ""  # why it does not run for now

    @property
    def title(self) -> str:
        text = self.name or " ".join(self.prompt.split())
        return text if len(text) <= 60 else f"{text[:59]}…"


class JobChanged(Event, frozen=True, tag="schedule_job"):
    """A job of this session as it is now; `gone` says why it is one no more."""

    job: ScheduledJob
    gone: str = ""
