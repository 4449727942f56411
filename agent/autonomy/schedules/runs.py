"""What came of each slot: one line for each step of a run, and steps only lead forward.

A run whose process is gone failed. The newest 200 are kept, and those that live.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.tools.system import private
from gatewright.tools.system.lifetimes import Lifetime
from gatewright.tools.system.regular import read_regular

KEPT = 200
ROOM = 4  # so many lines for each of them, then the file is written anew
MOST_BYTES = 8_000_000
INTERRUPTED = "interrupted: its process is gone"

State: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled", "skipped"]
_ORDER: dict[str, int] = {"queued": 0, "running": 1}
_OVER = 2


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    run: str
    job: str
    slot: float
    state: State
    title: str = ""
    trigger: Literal["slot", "late", "person", "wake", "heartbeat"] = "slot"
    owner: Lifetime = Lifetime()
    session: str = ""
    cost: float = 0.0
    reason: str = ""
    at: float = 0.0  # when it came to this state

    @property
    def over(self) -> bool:
        return rank(self.state) == _OVER


def rank(state: State) -> int:
    return _ORDER.get(state, _OVER)


def folded(records: Iterable[RunRecord]) -> dict[str, RunRecord]:
    """How each run stands; a step back, or away from an end, counts for nothing."""
    found: dict[str, RunRecord] = {}
    for record in records:
        before = found.get(record.run)
        if before is None or rank(before.state) < rank(record.state):
            found[record.run] = record
    return found


class Runs:
    """The file of them. Whoever writes holds the lock of the store it lies beside."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> dict[str, RunRecord]:
        return folded(self._lines())

    def add(self, record: RunRecord) -> bool:
        """Whether it is a step forward; then it is written."""
        lines = self._lines()
        before = folded(lines).get(record.run)
        if before is not None and rank(before.state) >= rank(record.state):
            return False
        if len(lines) >= KEPT * ROOM:
            self._anew([*lines, record])
        else:
            private.folder(self._path.parent)
            with open(self._path, "ab", opener=private.opener) as file:
                file.write(self._broken() + msgspec.json.encode(record) + b"\n")
        return True

    def settle(self, now: float) -> Sequence[RunRecord]:
        """The runs of processes that are gone end here; returns those."""
        gone = [
            msgspec.structs.replace(each, state="failed", reason=INTERRUPTED, at=now)
            for each in self.now().values()
            if not each.over and not each.owner.lives()
        ]
        return [each for each in gone if self.add(each)]

    def _anew(self, lines: Sequence[RunRecord]) -> None:
        every = list(folded(lines).values())
        newest = {each.run for each in every[-KEPT:]}
        kept = [each for each in every if each.run in newest or not each.over]
        whole = b"".join(msgspec.json.encode(each) + b"\n" for each in kept)
        new = self._path.with_suffix(".new")
        private.write(new, whole)
        new.replace(self._path)

    def _broken(self) -> bytes:
        """A line end, behind a line that a kill cut short."""
        data = self._read()
        return b"\n" if data and not data.endswith(b"\n") else b""

    def _read(self) -> bytes:
        try:
            return read_regular(self._path, MOST_BYTES)
        except OSError:
            return b""

    def _lines(self) -> list[RunRecord]:
        found: list[RunRecord] = []
        for line in self._read().splitlines():
            try:
                found.append(msgspec.json.decode(line, type=RunRecord))
            except msgspec.DecodeError:
                continue  # cut short by a kill, or written by a newer version
        return found
