"""The durable jobs of a project: one file that many processes change, under one lock.

A claim is on disk before anybody acts on it: whoever comes second is told that the slot is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.heartbeat import followed
from gatewright.agent.autonomy.schedules.runs import RunRecord, Runs
from gatewright.agent.autonomy.schedules.timing import ScheduleError
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.transcript.place import project_folder
from gatewright.tools.system import private
from gatewright.tools.system.locks import held
from gatewright.tools.system.regular import read_regular

MOST_JOBS = 50
MOST_BYTES = 4_000_000
FAILURES = 3  # in a row pause a job
FULL = f"There are {MOST_JOBS} jobs here already: delete one first."


class _Book(msgspec.Struct):
    root: str = ""
    jobs: list[ScheduledJob] = []


def store_of(home: Path, root: Path) -> Path:
    """The file of a project's durable jobs; runs and locks lie beside it."""
    return home / "state" / "schedules" / f"{project_folder(Path(), root).name}.json"


class Store:
    """Safe from any thread and process. Raises ScheduleError where the file cannot be used."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path, self._root = path, str(root)
        self.runner = path.with_suffix(".runner")
        self.writer = path.with_suffix(".writer")  # held by the one session that works by itself
        self._lock = path.with_suffix(".lock")
        self.runs = Runs(path.with_suffix(".runs.jsonl"))

    def jobs(self) -> Mapping[str, ScheduledJob]:
        """As they were a moment ago: files are replaced whole, so no lock is needed."""
        return {each.id: each for each in self._read().jobs}

    def add(self, job: ScheduledJob) -> None:
        with self._changing() as book:
            if len(book.jobs) >= MOST_JOBS:
                raise ScheduleError(FULL)
            book.jobs = [*book.jobs, job]

    def remove(self, id: str) -> bool:
        with self._changing() as book:
            before = len(book.jobs)
            book.jobs = [each for each in book.jobs if each.id != id]
            return len(book.jobs) < before

    def change(self, id: str, made: Callable[[ScheduledJob], ScheduledJob]) -> ScheduledJob | None:
        """The job as it is then; None where it is gone. Its times never go back."""
        with self._changing() as book:
            found = next((each for each in book.jobs if each.id == id), None)
            if found is None:
                return None
            new = forward(found, made(found))
            book.jobs = [new if each.id == id else each for each in book.jobs]
            return new

    def claim(self, id: str, slot: float, run: RunRecord) -> ScheduledJob | None:
        """Take the slot for this run; None: the job is gone, or the slot was claimed before."""
        with self.locked():
            book = self._read()
            found = next((each for each in book.jobs if each.id == id), None)
            if found is None or slot <= found.last_slot:
                return None
            taken = replace(found, last_slot=slot)
            book.jobs = [taken if each.id == id else each for each in book.jobs]
            self._write(book)
            self.runs.add(run)
            return taken

    def follow(self, beats: Sequence[ScheduledJob]) -> None:
        """Have the jobs of the project's heartbeat be these; nothing is written if they are."""
        with self._changing() as book:
            book.jobs = followed(book.jobs, beats)

    def record(self, run: RunRecord) -> bool:
        with self.locked():
            return self.runs.add(run)

    def settle(self, now: float) -> None:
        """The runs of processes that are gone end."""
        with self.locked():
            self.runs.settle(now)

    @contextmanager
    def locked(self) -> Generator[None]:
        try:
            private.folder(self.path.parent)
            with held(self._lock):
                yield
        except OSError as error:
            told = f"The schedules in {self.path.parent} cannot be used: {error.strerror}."
            raise ScheduleError(told) from error

    @contextmanager
    def _changing(self) -> Generator[_Book]:
        with self.locked():
            book = self._read()
            before = list(book.jobs)
            yield book
            if book.jobs != before:
                self._write(book)

    def _read(self) -> _Book:
        try:
            data = read_regular(self.path, MOST_BYTES)
        except FileNotFoundError:
            return _Book()
        except OSError as error:
            raise ScheduleError(f"{self.path} cannot be read: {error}.") from error
        try:
            return msgspec.json.decode(data, type=_Book)
        except msgspec.DecodeError as error:  # never written over: it may be a newer version's
            raise ScheduleError(f"{self.path} is not as it was written: {error}.") from None

    def _write(self, book: _Book) -> None:
        book.root = self._root
        new = self.path.with_suffix(".new")
        private.write(new, msgspec.json.format(msgspec.json.encode(book), indent=1))
        new.replace(self.path)


def forward(before: ScheduledJob, after: ScheduledJob) -> ScheduledJob:
    return replace(
        after,
        last_slot=max(before.last_slot, after.last_slot),
        last_end=max(before.last_end, after.last_end),
    )


def ended(job: ScheduledJob, at: float, *, ok: bool) -> ScheduledJob:
    """After a run of it: the third failure in a row pauses it."""
    failures = 0 if ok else job.failures + 1
    why = f"{FAILURES} runs in a row failed" if failures >= FAILURES else ""
    return replace(job, last_end=max(job.last_end, at), failures=failures, paused=job.paused or why)
