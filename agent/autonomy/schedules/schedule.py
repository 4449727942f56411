"""The jobs of one session and, where it holds their lock, the durable ones of its project.

One task looks at what is due and sleeps until the next slot. A slot is claimed before its prompt
is handed on, and every run that is begun here is ended here.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.framing import framed
from gatewright.agent.autonomy.schedules.heartbeat import LEAD
from gatewright.agent.autonomy.schedules.holding import Holding
from gatewright.agent.autonomy.schedules.own_runs import LEFT, OwnRuns, how, well
from gatewright.agent.autonomy.schedules.runs import RunRecord, State
from gatewright.agent.autonomy.schedules.store import (
    FULL,
    MOST_JOBS,
    Store,
    ended,
    forward,
)
from gatewright.agent.autonomy.schedules.timing import (
    Due,
    ScheduleError,
    Terms,
    due,
    last_run,
    shown,
)
from gatewright.agent.record.events import AnyEvent, JobChanged, TurnEnded, UserMessage
from gatewright.agent.record.events_of_schedules import ScheduledJob


async def nothing() -> None:
    """There is nothing to look at first."""


class Waking(Protocol):
    def poke(self) -> None: ...
    async def wait(self, when: float | None) -> None: ...


class SchedulePorts(msgspec.Struct, frozen=True, kw_only=True):
    session: str
    time: Callable[[], float]
    terms: Callable[[], Terms]
    may: Callable[[], str]  # why nothing may begin by itself; empty where it may
    publish: Callable[[AnyEvent], object]
    kept: Callable[[], Awaitable[object]]  # what was published is on disk
    deliver: Callable[[str, ScheduledJob, str], Awaitable[str]]  # a run's text; or why not
    tell: Callable[[str], object]
    store: Store | None = None  # without one there are no durable jobs
    look: Callable[[], Awaitable[object]] = nothing  # before it is seen what is due
    expires: Callable[[], float] = lambda: 7 * 86_400.0


class Schedule:
    """What commands and tools ask is answered at once; slots are the task's alone."""

    def __init__(self, ports: SchedulePorts, alarm: Waking) -> None:
        self._ports, self._alarm = ports, alarm
        self._since = ports.time()
        self.own: dict[str, ScheduledJob] = {}
        self.runs = OwnRuns(ports.session, ports.store)
        store = ports.store
        self._holding = Holding(store.runner, alarm.poke) if store is not None else None
        self._together: dict[str, list[str]] = {}  # by a run: those that its prompt is for, too
        self._forced: dict[str, None] = {}  # that the person wants to run now, in this order
        self._closed = self._settled = False
        self._task: asyncio.Task[None] | None = None

    # what people and the model ask

    def add(self, job: ScheduledJob) -> ScheduledJob:
        """Raises ScheduleError."""
        now, recurring = self._ports.time(), not (job.once or job.at or job.wakes)
        made = replace(
            job,
            id=f"job_{secrets.token_hex(4)}",
            made=now,
            expires=now + self._ports.expires() if recurring else 0.0,
        )
        if made.durable:
            if self._ports.store is None:
                raise ScheduleError("This session keeps nothing, so no job outlives it.")
            self._ports.store.add(made)
        else:
            if len(self.own) >= MOST_JOBS:
                raise ScheduleError(FULL)
            self._changed(made)
        self.begin()
        return made

    def restore(self, event: JobChanged) -> None:
        """Of this session's file: what was there and is not over."""
        if event.gone or 0 < event.job.expires < self._since:
            self.own.pop(event.job.id, None)
        else:
            self.own[event.job.id] = event.job

    def jobs(self) -> Mapping[str, ScheduledJob]:
        """All that are known here, those of the project too."""
        store = self._ports.store
        return dict(self.own) if store is None else {**store.jobs(), **self.own}

    def next(self, job: ScheduledJob) -> float | None:
        return due(job, self._ports.time(), self._terms()).next

    def remove(self, id: str) -> bool:
        """From now on it never runs, also what is due this moment."""
        if (job := self.own.get(id)) is not None:
            self._gone(job, "deleted")
            self._alarm.poke()
            return True
        removed = self._ports.store is not None and self._ports.store.remove(id)
        self._alarm.poke()
        return removed

    def pause(self, id: str, why: str) -> bool:
        """An empty reason lets it go on."""

        def changed(job: ScheduledJob) -> ScheduledJob:
            return replace(job, paused=why, failures=job.failures if why else 0)

        if (job := self.own.get(id)) is not None:
            self._changed(changed(job))
        elif self._ports.store is None or self._ports.store.change(id, changed) is None:
            return False
        self._alarm.poke()
        return True

    def now(self, id: str) -> None:
        """Run it as soon as no turn does, whatever its times say."""
        self._forced[id] = None
        self.begin()

    def again(self, id: str, when: float) -> bool:
        """Have a job that the model wakes itself come again then."""
        job = self.own.get(id)
        if job is None or not job.wakes:
            return False
        self._changed(replace(job, at=when))
        self._alarm.poke()
        return True

    @property
    def runner(self) -> bool:
        """Whether this session runs the project's durable jobs."""
        return self._holding is not None and self._holding.held

    def stored_runs(self) -> Mapping[str, RunRecord]:
        return self._ports.store.runs.now() if self._ports.store is not None else {}

    @property
    def running(self) -> Sequence[RunRecord]:
        return [each.record for each in self.runs.open.values()]

    def begin(self) -> None:
        """From the first job on one task looks at the clock."""
        if self._task is None and not self._closed:
            self._task = asyncio.create_task(self._run(), name="schedule")
        self._alarm.poke()

    # what happens to its runs

    def saw(self, event: AnyEvent) -> None:
        """Of the main agent: a run is taken up, and ends with the turn."""
        match event:
            case UserMessage(input_id=id) if id in self.runs.open:
                for run in (id, *self._together.pop(id, ())):
                    self.runs.is_taken_up(run, self._ports.time())
            case TurnEnded(stop=stop, message=message, cost=cost):
                for id in self.runs.running():
                    self._end(id, *how(stop, message), cost=cost)
            case _:
                pass

    def refused(self, id: str, why: str) -> None:
        """What it begins with was not sent: no turn comes that could end it."""
        for run in (id, *self._together.pop(id, ())):
            if run in self.runs.open:
                self._end(run, "failed", why)

    async def close(self) -> None:
        """No run stays open: what did not end by itself was cut off."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        for record in self.running:
            self._end(record.run, "failed" if record.state == "running" else "cancelled", LEFT)
        with suppress(ScheduleError):
            await self._write_down()
        if self._holding is not None:
            self._holding.close()

    # the task

    async def _run(self) -> None:
        while True:
            try:
                when = await self._look()
            except ScheduleError as error:
                self._ports.tell(str(error))
                when = None
            await self._alarm.wait(when)

    async def _look(self) -> float | None:
        """Begin what is due; when to look again."""
        await self._write_down()
        await self._ports.look()
        self._since = min(self._since, self._ports.time())
        coming: list[float] = []
        beats: list[tuple[RunRecord, ScheduledJob, str]] = []  # one prompt for all of them
        for id in list(self._forced):
            if (job := self.jobs().get(id)) is not None:
                now = max(self._ports.time(), job.last_slot + 1)
                await self._due(job, Due(now), forced=True)
            del self._forced[id]  # what was asked for meanwhile is still in there
        for job in (*await self._durable(), *list(self.own.values())):
            if job.every and self.runs.busy(job.id):
                continue  # its end is what it counts from
            now = self._ports.time()
            found = due(job, now, self._terms())
            if found.slot:
                await self._due(job, found, beats=beats if job.id.startswith(LEAD) else None)
            elif found.next is None and self._is_over(job, found):
                await self._finish(job)
            if found.next is not None:
                coming.append(found.next)
        if beats:
            await self._give_together(beats)
        await self._write_down()
        return min(coming, default=None)

    async def _durable(self) -> Sequence[ScheduledJob]:
        """The project's jobs, where this session is who runs them."""
        store = self._ports.store
        if store is None or not (jobs := await asyncio.to_thread(store.jobs)):
            return ()
        if self._holding is None or not self._holding.take():
            return ()
        if not self._settled:
            self._settled = True
            await asyncio.to_thread(store.settle, self._ports.time())
        return list(jobs.values())

    def _is_over(self, job: ScheduledJob, found: Due) -> bool:
        """Nothing comes any more; a moment that was missed is told."""
        if found.missed and job.at and not job.durable:
            self._ports.tell(f"{job.title} was not run: {shown(found.missed, job.tz)} is over.")
        waits = job.paused or self.runs.busy(job.id)
        return not waits and (bool(found.missed) or 0 < job.expires < self._ports.time())

    async def _due(
        self,
        job: ScheduledJob,
        found: Due,
        *,
        forced: bool = False,
        beats: list[tuple[RunRecord, ScheduledJob, str]] | None = None,
    ) -> None:
        """Claim the slot; then its run begins, alone or with `beats`, or it is said why not."""
        why = "the run before it still goes on" if self.runs.busy(job.id) else self._ports.may()
        over = not forced and last_run(job, found.slot)
        record = self.runs.begun(job, found, why, self._ports.time())
        record = replace(record, trigger="person") if forced else record
        if (claimed := await self._claimed(job, found.slot, record)) is None:
            return
        self.runs.take(record, durable=job.durable)
        if not why:
            text = framed(claimed, found.slot, late=found.late, last=over)
            if beats is not None:
                beats.append((record, claimed, text))
            elif problem := await self._ports.deliver(record.run, claimed, text):
                self._end(record.run, "failed", problem)
        if over and not (job.wakes and not why):
            await self._finish(claimed)

    async def _give_together(self, beats: Sequence[tuple[RunRecord, ScheduledJob, str]]) -> None:
        (first, job, _), *rest = beats
        self._together[first.run] = [record.run for record, _, _ in rest]
        text = "\n\n".join(text for _, _, text in beats)
        if problem := await self._ports.deliver(first.run, job, text):
            for record, _, _ in beats:
                self._end(record.run, "failed", problem)

    async def _claimed(
        self, job: ScheduledJob, slot: float, record: RunRecord
    ) -> ScheduledJob | None:
        """The job with the slot taken, on disk; None where somebody was first, or deleted it."""
        store = self._ports.store
        if job.durable:
            assert store is not None
            return await asyncio.to_thread(store.claim, job.id, slot, record)
        now = self.own.get(job.id)
        if now is None or slot <= now.last_slot:
            return None
        self._changed(forward(now, replace(now, last_slot=slot)))
        await self._ports.kept()
        return self.own.get(job.id)

    async def _finish(self, job: ScheduledJob) -> None:
        """No slot comes any more."""
        if job.id in self.own:
            self._gone(self.own[job.id], "over")
        elif self._ports.store is not None:
            await asyncio.to_thread(self._ports.store.remove, job.id)

    async def _write_down(self) -> None:
        for job in await self.runs.write_down(self._ports.time()):
            self._ports.tell(f"{job.title} is paused: {job.paused}.")

    def _end(self, id: str, state: State, reason: str = "", *, cost: float = 0.0) -> None:
        now, before = self._ports.time(), self.runs.open[id].record
        record = replace(before, state=state, reason=reason, cost=cost, at=now)
        self.runs.end(record)
        if (job := self.own.get(record.job)) is not None:
            after = ended(job, now, ok=well(record))
            self._changed(after)
            if after.paused and not job.paused:
                self._ports.tell(f"{job.title} is paused: {after.paused}.")
            if job.wakes and job.at <= job.last_slot:
                self._gone(after, "over")
        self._alarm.poke()

    def _changed(self, job: ScheduledJob) -> None:
        self.own[job.id] = job
        self._ports.publish(JobChanged(job=job))

    def _gone(self, job: ScheduledJob, why: str) -> None:
        del self.own[job.id]
        self._ports.publish(JobChanged(job=job, gone=why))

    def _terms(self) -> Terms:
        return replace(self._ports.terms(), since=self._since)
