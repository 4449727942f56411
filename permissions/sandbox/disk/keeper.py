"""Keeps protected names out of the project while commands run in it, and right after.

From the first run until the last has ended what was there before stays the measure: so what one
run makes is never taken for old by the next, nor by the next start after a kill.
"""

from __future__ import annotations

import json
import math
import os
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.disk.aside import ASIDE, Aside, Batch
from gatewright.permissions.sandbox.disk.covered import is_replaced
from gatewright.permissions.sandbox.disk.findings import Bounds, Sight
from gatewright.permissions.sandbox.disk.receipts import Receipt
from gatewright.permissions.sandbox.disk.settle import Before, Settlement, files, own_places
from gatewright.permissions.sandbox.disk.survey import Surveyor
from gatewright.permissions.sandbox.running.asleep import Asleep

PATIENCE = 2.0  # seconds that a result may wait for a look
UNFINISHED = (
    "there is more to look through for names that commands may not create: until that is done the"
    " sandbox allows no command by itself"
)
_RECEIPT = 2

# Which file it is, and when it last changed, which no command can set; of a directory the first.
_State: TypeAlias = tuple[int, int, int]


def _unknown() -> Asleep | None:
    return None


class Keeper(msgspec.Struct):
    """`base` is what was there; None while nothing runs and nothing is owed.

    What came about between two whole looks while all that runs was `asleep` is not the runs': it
    is a person's program that made it, and it stays.
    """

    surveyor: Surveyor
    cwd: str
    aside: Aside | None
    receipt: Receipt = msgspec.field(default_factory=lambda: Receipt(None))
    back: str = "agent sandbox restore"  # what a person types to take something back
    asleep: Callable[[], Asleep | None] = _unknown
    writable: tuple[str, ...] = ()  # by the runs, for other sessions to know
    shields: bool = False  # protected names that are there are covered in every run
    base: Before | None = None
    owed: bool = False  # the last look was not finished
    _opened: set[str] = msgspec.field(
        default_factory=set[str]
    )  # exactly these, for runs that go on
    _making: dict[int, frozenset[str]] = msgspec.field(default_factory=dict[int, frozenset[str]])
    _approved: dict[str, _State] = msgspec.field(default_factory=dict[str, "_State"])
    _returned: set[str] = msgspec.field(default_factory=set[str])
    _covered: frozenset[str] = frozenset()  # in all runs since `base`
    _told: set[str] = msgspec.field(default_factory=set[str])
    _batches: list[Batch] = msgspec.field(default_factory=list[Batch])
    _written: tuple[Before, bytes] | None = None
    _slept: Asleep | None = None  # before the last look, if that left nothing open

    def begin(self, sight: Sight) -> None:
        """A run is about to start in what was just seen."""
        if self.base is not None:
            self._covered &= frozenset(sight.covered)
            return
        own = own_places(self.surveyor.roots, self.surveyor.home)
        seen = sight if own == self.surveyor.roots else self._see(math.inf, None)
        self.base = Before.of(seen)
        self._covered = frozenset(seen.covered)
        self.receipt.write(self._text(self.base))

    def follow(self, surveyor: Surveyor, look: Callable[[], Sight]) -> None:
        """From now on there is more to look for, or less: what runs is still compared with `base`.

        What only the new one looks for is taken as it is now; runs that go on could write it.
        """
        before, looked = self.base, self.surveyor
        self.surveyor, self._written = surveyor, None
        if before is None:
            return
        own = own_places(surveyor.roots, surveyor.home)
        seen = look()
        seen = seen if own == surveyor.roots else self._see(math.inf, None)
        self.base = Before.of(seen).following(before, looked)
        self._covered &= frozenset(seen.covered)
        self._slept = None
        self.receipt.write(self._text(self.base))

    def end(self) -> None:
        """The last run is over and was looked after."""
        if not self.owed:
            self.base = None
            self._slept = None
            self._approved.clear()
            self._making.clear()
            self._returned.clear()
            self._opened.clear()
            self._told.clear()
            self._batches.clear()
            self.receipt.clear()

    def approve(self, call: int, paths: Iterable[str]) -> None:
        """This call is about to make these outside the sandbox, by right."""
        if self.base is not None:
            self._making[call] = frozenset(paths)

    def made(self, call: int) -> None:
        """What it made is known as it is now: what changes from now on is the work of others."""
        for path in self._making.pop(call, ()):
            self._approve_as_it_is(path)

    def _approve_as_it_is(self, path: str) -> None:
        state = _state(path)
        if state is None:
            self._approved.pop(path, None)
        else:
            self._approved[path] = state

    def open(self, paths: Iterable[str]) -> None:
        """A person let a run make exactly these."""
        self._opened.update(paths)

    def shut(self, paths: Iterable[str]) -> None:
        """That run is over: what it made is known as it is now, and no other may make any."""
        for path in paths:
            self._opened.discard(path)
            self._approve_as_it_is(path)

    def _welcome(self, base: Before, sight: Sight) -> None:
        """What is new in this look stays where it is."""
        found = self._settlement(None)
        found.compare(base, sight)
        for path in found.found:
            self._keep_whole(path)

    def _keep_whole(self, path: str) -> None:
        """This and what is in it now, but nothing that comes to be there."""
        self._approve_as_it_is(path)
        if os.path.isdir(path) and not os.path.islink(path):
            for each in files(path):
                self._approve_as_it_is(each)

    def covers(self, path: str) -> bool:
        """Whether this lies under a protected name that every run has found there."""
        if self.base is None:
            return False
        known = self.base.marks.items()
        return path not in self._opened and any(
            inside(path, each) and not is_replaced(each, mark) for each, mark in known
        )

    def check(self, seconds: float = PATIENCE, *, until: int = 0, last: bool = False) -> list[str]:
        """Put aside what came about since `base`; what there is to tell of it.

        At the `last` look nothing runs any more that could sleep until another.
        """
        if self.base is None:
            return []
        slept = None if last and self._slept is None else self.asleep()
        sight = self._see(time.monotonic() + seconds, self.base)
        if self._slept is not None and self.asleep() == self._slept:
            self._welcome(self.base, sight)
        settlement = self._settlement(self.aside)
        settlement.until = until
        settlement.compare(self.base, sight)
        if settlement.batch is not None:
            self._batches.append(settlement.batch)
        self.owed = not settlement.over or (self.base.complete and not sight.complete)
        left = (self.owed, settlement.failed, settlement.found, sight.shut, not sight.complete)
        self._slept = None if any(left) else slept
        texts = settlement.told(self.cwd, self.back)
        fresh = [text for text in texts if text not in self._told]
        self._told.update(fresh)
        return [*fresh, UNFINISHED] if self.owed and seconds >= PATIENCE else fresh

    def _settlement(self, aside: Aside | None) -> Settlement:
        for path in frozenset[str]().union(*(batch.given_back() for batch in self._batches)):
            if path not in self._returned:
                self._returned.add(path)
                self._keep_whole(path)
        same = (path for path, known in self._approved.items() if _state(path) == known)
        approved = frozenset(same).union(*self._making.values())
        places, known = self._places(), () if self.base is None else self.base.directories
        # A linked work tree's or a submodule's git directory may lie elsewhere.
        away = (git for git in known if not any(inside(git, place) for place in places))
        return Settlement(approved, (*places, *away), aside, frozenset(self._opened))

    def _places(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.surveyor.roots, *self._flat())))

    def _flat(self) -> tuple[str, ...]:
        """A whole disk or home is not searched: what lies right in it is looked at."""
        roots, home = self.surveyor.roots, self.surveyor.home
        wide = tuple(root for root in roots if root not in own_places(roots, home))
        return tuple(dict.fromkeys((*wide, home))) if wide else ()

    def _see(self, deadline: float, base: Before | None) -> Sight:
        since = math.inf if base is None else base.since
        own = own_places(self.surveyor.roots, self.surveyor.home)
        sight = self.surveyor.look(Bounds(own, deadline, since=since, skip=self._covered))
        flat = self._flat()
        if not flat:
            return sight
        more = self.surveyor.look(Bounds(flat, flat=True, since=since))
        return replace(
            sight,
            guarded=sight.guarded | more.guarded,
            repositories=sight.repositories | more.repositories,
            bare=sight.bare | more.bare,
            shut=sight.shut | more.shut,
            linked=tuple({*sight.linked, *more.linked}),
            hooks=sight.hooks or more.hooks,
        )

    # --- for the next start ---

    def _text(self, base: Before) -> bytes:
        """The receipt; mostly the same as for the last command but for the time."""
        known = self._written
        if known is None or replace(known[0], since=base.since) != base:
            place = {
                "roots": self.surveyor.roots,
                "home": self.surveyor.home,
                "cwd": self.cwd,
                "names": self.surveyor.names,
                "writable": self.writable,
                "covers": self.shields,
            }
            shown = {
                "guarded": sorted(base.guarded),
                "repositories": sorted(base.repositories),
                "directories": sorted(base.directories),
                "unwanted": sorted(base.unwanted),
                "absent": sorted(base.absent),
                "shut": sorted(base.shut),
                "complete": base.complete,
                "links": base.links,
                "marks": base.marks,
                "running": {git: sorted(lines) for git, lines in base.running.items()},
            }
            known = (base, json.dumps([_RECEIPT, place, shown]).encode())
            self._written = known
        return b"%d\n%b" % (base.since, known[1])


def look_again(state: Path, data: bytes, gone: int) -> list[str]:
    """Look after the commands of a process that was killed, from what it wrote down."""
    try:
        since, _, text = data.partition(b"\n")
        version, place, shown = _loaded(text)
        base = _before(shown, int(since))
        surveyor = Surveyor.named(tuple(place["roots"]), place["home"], place["names"])
        keeper = Keeper(surveyor, place["cwd"], Aside(str(state / ASIDE)))
    except (ValueError, LookupError, TypeError, AttributeError):
        return []  # torn by the kill: nothing had begun by then
    if version != _RECEIPT:
        return []
    keeper.base = base
    told: list[str] = []
    for _ in range(10):
        told.extend(keeper.check(until=gone))
        if not keeper.owed:
            break
    left = dict.fromkeys(told)  # that there is more is said at each look
    return [f"{text} (left by a command of a session that was killed)" for text in left]


def _loaded(text: bytes) -> tuple[Any, Any, Any]:
    version, place, shown = json.loads(text)
    return version, place, shown


def _before(shown: Any, since: int) -> Before:
    def paths(name: str) -> frozenset[str]:
        return frozenset(map(str, shown[name]))

    return Before(
        guarded=paths("guarded"),
        repositories=paths("repositories"),
        directories=paths("directories"),
        unwanted=paths("unwanted"),
        absent=paths("absent"),
        shut=paths("shut"),
        complete=bool(shown["complete"]),
        links={str(path): str(target) for path, target in shown["links"].items()},
        since=since,
        marks={
            str(path): (int(disk), int(file), int(at))
            for path, (disk, file, at) in shown["marks"].items()
        },
        running={str(git): frozenset(map(str, lines)) for git, lines in shown["running"].items()},
    )


def _state(path: str) -> _State | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    changed = 0 if stat.S_ISDIR(status.st_mode) else status.st_ctime_ns
    return status.st_dev, status.st_ino, changed
