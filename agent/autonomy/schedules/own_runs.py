"""The runs that this session began: each takes its steps forward, and all end with the session."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.runs import RunRecord, State
from gatewright.agent.autonomy.schedules.store import Store, ended
from gatewright.agent.autonomy.schedules.timing import Due
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.turn.stop import Stop
from gatewright.tools.system.lifetimes import ours

CANCELLED = frozenset({Stop.ABORTED_STREAMING, Stop.ABORTED_TOOLS})
LEFT = "the session ended"
KEPT = 200


class _Open(msgspec.Struct):
    record: RunRecord
    durable: bool


class OwnRuns:
    """Steps are noted at once and written by `write_down`, which the schedule's task awaits."""

    def __init__(self, session: str, store: Store | None) -> None:
        self._session, self._store = session, store
        self.known: dict[str, RunRecord] = {}
        self.open: dict[str, _Open] = {}
        self._writes: list[RunRecord] = []
        self._over: list[tuple[str, bool]] = []  # durable jobs, and whether it went well

    def begun(self, job: ScheduledJob, found: Due, why: str, at: float) -> RunRecord:
        """A record that nobody has yet: of a run, or of a slot that is skipped."""
        return RunRecord(
            run=f"run_{secrets.token_hex(6)}",
            job=job.id,
            slot=found.slot,
            state="skipped" if why else "queued",
            title=job.title,
            trigger="late" if found.late > 60 else "wake" if job.wakes else "slot",
            owner=ours(),
            session=self._session,
            reason=why,
            at=at,
        )

    def take(self, record: RunRecord, *, durable: bool) -> None:
        """Its slot is claimed; that of a durable job is written with the claim."""
        if durable:
            self.known[record.run] = record
        else:
            self._note(record)
        if not record.over:
            self.open[record.run] = _Open(record, durable)

    def busy(self, job: str) -> bool:
        return any(each.record.job == job for each in self.open.values())

    def running(self) -> Sequence[str]:
        return [id for id, each in self.open.items() if each.record.state == "running"]

    def is_taken_up(self, id: str, at: float) -> None:
        each = self.open[id]
        if each.record.state == "queued":
            each.record = replace(each.record, state="running", at=at)
            self._note(each.record)

    def end(self, record: RunRecord) -> RunRecord:
        """With the state that it ends in."""
        each = self.open.pop(record.run)
        self._note(record)
        if each.durable:
            self._over.append((record.job, well(record)))
        return record

    async def write_down(self, now: float) -> Sequence[ScheduledJob]:
        """What is noted, into the files; which jobs that paused."""
        writes, self._writes = self._writes, []
        over, self._over = self._over, []
        store = self._store
        if store is None or not (writes or over):
            return ()

        def write() -> list[ScheduledJob]:
            for record in writes:
                store.record(record)
            after = [store.change(id, partial(ended, at=now, ok=ok)) for id, ok in over]
            return [each for each in after if each is not None and each.paused]

        return await asyncio.to_thread(write)

    def _note(self, record: RunRecord) -> None:
        self.known[record.run] = record
        while len(self.known) > KEPT:
            del self.known[next(iter(self.known))]
        self._writes.append(record)


def well(record: RunRecord) -> bool:
    return record.state != "failed" or record.reason == LEFT


def how(stop: Stop, message: str) -> tuple[State, str]:
    """What a turn's end is for the run that it was."""
    if stop is Stop.COMPLETED:
        return "succeeded", ""
    if stop in CANCELLED:
        return "cancelled", "interrupted"
    return "failed", message or stop.value
