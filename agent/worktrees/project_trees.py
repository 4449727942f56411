"""The work trees of one project: making, using again, leaving, and what was left by others."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.worktrees.beginning import BaseRef, beginning
from gatewright.agent.worktrees.checking import Held, check
from gatewright.agent.worktrees.hooked import asked, by_hook, told
from gatewright.agent.worktrees.included import Bringing
from gatewright.agent.worktrees.making import Ground, lock, made, place, repository, unlock
from gatewright.agent.worktrees.names import WorktreeError, counted, wanted
from gatewright.agent.worktrees.record import Record, Records, used_now
from gatewright.agent.worktrees.removing import Removal, finish, forget, leaving, remove
from gatewright.tools.system.git import Caller, Stop, aside, git_in
from gatewright.tools.system.gitfiles import repository_of
from gatewright.tools.system.lifetimes import Lifetime, ours
from gatewright.tools.system.locks import let_go, taken

if TYPE_CHECKING:
    from gatewright.tools.moments import Moments

DAY = 86_400.0
SHORT = 15.0
UNCOMMITTED = "What is not committed elsewhere is not in it."


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What settings say of new trees."""

    base: BaseRef = "head"
    bringing: Bringing = Bringing()


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    root: Path  # the person's checkout
    folder: Path  # where the project's sessions are kept
    caller: Callable[[], Caller]
    wishes: Callable[[], Wishes]
    moments: Callable[[], Moments | None] = lambda: None
    session: str = ""


class Opened(msgspec.Struct, frozen=True):
    """A tree to work in, and what there is to know of it."""

    record: Record
    notes: tuple[str, ...] = ()
    again: bool = False

    @property
    def text(self) -> str:
        record = self.record
        by = "a hook made it" if record.by_hook else f"branch {record.short}"
        return " ".join((f"{record.path} ({by}).", *self.notes))


class Left(msgspec.Struct, frozen=True):
    """How it ended: `kept` says why the tree is still there, empty when it is gone."""

    record: Record
    kept: str = ""
    diffstat: str = ""

    @property
    def text(self) -> str:
        record = self.record
        if not self.kept:
            return f"The work tree {record.path} is removed, and its branch: nothing was in it."
        at = f"The work tree {record.path} stays, on branch {record.short}: {self.kept}."
        more = [part for part in self.diffstat.split(", ") if part not in self.kept]
        return f"{at} {', '.join(more)}".rstrip()


class Worktrees:
    """Owned by the session."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self.records = Records(ports.folder)

    async def open(self, text: str, seen: Path, agent: str) -> Opened:
        """The tree of that name, new or used again, held by that agent until it is left.

        `seen` is the checkout in front of who asks. Raises WorktreeError or OSError.
        """
        name = wanted(text)
        if (moments := self._ports.moments()) is not None:
            named = await asked(moments, name.slug, agent)
            if named:
                return Opened(await asyncio.to_thread(self._of_hook, name.slug, named, agent))

        def work(stop: Stop) -> Opened:
            with self._alone(name.slug):
                if (known := self._again(name.slug, agent)) is not None:
                    return Opened(known, (), again=True)
                return self._new(name.slug, name.pull, seen, agent, stop)

        return await aside(work)

    async def enter(self, path: Path, agent: str) -> Opened:
        """One that is there, by its path. Raises WorktreeError."""
        real = await asyncio.to_thread(os.path.realpath, path)
        for record in self.records.all():
            if real == record.path:
                return await self.open(record.slug.replace("+", "/"), path, agent)
        raise WorktreeError(f"{path} is no work tree of this project that we made.")

    async def leave(self, record: Record) -> Left:
        """Nobody works in it any more; it stays."""
        return await aside(lambda stop: self._left(record, "it was to be kept", stop))

    async def remove(self, record: Record, agreed: tuple[str, ...] = ()) -> Left:
        """Take it away if nothing is lost, or just what the person agreed to lose."""

        def work(stop: Stop) -> Left:
            with self._alone(record.slug):
                return self._removed(record, agreed, stop)

        left = await aside(work)
        gone = not left.kept or record.by_hook
        if gone and (moments := self._ports.moments()) is not None:
            await told(moments, record)
            if not await asyncio.to_thread(os.path.lexists, record.path):
                self.records.drop(record.slug)
                return Left(record)
        return left

    async def check(self, record: Record) -> Held:
        return await aside(lambda stop: check(record, record.tree, self._ports.caller(), stop))

    async def again(self, path: str, agent: str) -> Opened | None:
        """One that was worked in before; None where it is not the separate checkout that it was."""
        record = await asyncio.to_thread(self.of, path)
        return None if record is None else await self.enter(record.tree, agent)

    def of(self, path: str) -> Record | None:
        """The record of a tree that still is the separate checkout that it was."""
        record = next((each for each in self.records.all() if each.path == path), None)
        return record if record is not None and stands(record) else None

    def sweep(self, days: float) -> list[str]:
        """Remove what is clean and was left long ago by somebody who is gone; what happened."""
        told: list[str] = []
        for record in list(self.records.all()):
            if record.owner.lives() or time.time() - max(record.used, record.made) < days * DAY:
                continue
            with contextlib.suppress(WorktreeError, OSError), self._alone(record.slug):
                if leaving(record).is_dir() and not os.path.lexists(record.path):
                    finish(record, self._ports.caller())
                if not os.path.lexists(record.path):
                    self._vanished(record)
                elif not self._removed(record, (), Stop()).kept:
                    told.append(record.path)
        return told

    def listed(self) -> Sequence[tuple[Record, str]]:
        """Every tree with how it stands: in use, clean, or what it holds."""
        found: list[tuple[Record, str]] = []
        for record in self.records.all():
            if not os.path.lexists(record.path):
                state = "gone"
            elif record.owner.lives():
                state = f"in use by process {record.owner.pid}"
            else:
                state = check(record, record.tree, self._ports.caller()).text() or "clean"
            found.append((record, state))
        return found

    # --- in a thread ---

    @contextlib.contextmanager
    def _alone(self, slug: str) -> Generator[None]:
        path = self.records.lock(slug)
        held = taken(path)
        if held is None:
            raise WorktreeError(f"Somebody else is at the work tree {slug} right now; try again.")
        try:
            yield
        finally:
            let_go(path, held)

    def _new(self, slug: str, pull: int, seen: Path, agent: str, stop: Stop) -> Opened:
        ports, wishes = self._ports, self._ports.wishes()
        caller = ports.caller()
        repository(ports.root)
        place(ports.root, slug)
        base = beginning(seen, caller, wishes.base, pull, stop)
        ground = Ground(
            root=ports.root,
            caller=caller,
            bringing=wishes.bringing,
            agent=agent,
            session=ports.session,
        )
        record, notes = made(ground, slug, base.commit, stop)
        self.records.put(record)
        said = (base.note, UNCOMMITTED, *notes)
        return Opened(record, tuple(text for text in said if text))

    def _again(self, slug: str, agent: str) -> Record | None:
        """Used again without starting git: its files say that it is what it was."""
        record = self.records.get(slug)
        if record is None or record.root != str(self._ports.root):
            return None
        if record.owner.lives() and not (record.owner.is_us() and record.agent == agent):
            who = record.agent or "somebody"
            raise WorktreeError(f"{who} (process {record.owner.pid}) works in {slug} already.")
        if not os.path.lexists(record.path):
            self._vanished(record)
            return None
        if not stands(record):
            raise WorktreeError(
                f"{record.path} is not the separate checkout any more that it was; nothing of it "
                "was touched. Choose another name, or move it away."
            )
        owner = ours()
        if not record.by_hook:
            lock(record.admin, owner)
        session = self._ports.session
        now = msgspec.structs.replace(used_now(record, owner), agent=agent, session=session)
        self.records.put(now)
        return now

    def _of_hook(self, slug: str, named: str, agent: str) -> Record:
        record = by_hook(slug, named, self._ports.root, agent)
        self.records.put(msgspec.structs.replace(record, session=self._ports.session))
        return record

    def _vanished(self, record: Record) -> None:
        """Somebody removed it by hand: git forgets it too, as `git worktree prune` does, and the
        branch where nothing was committed on it.
        """
        if not record.by_hook:
            forget(record, self._ports.caller())
        self.records.drop(record.slug)

    def let_go(self, record: Record) -> None:
        """Nobody works in it from now on."""
        if not record.by_hook:
            with contextlib.suppress(OSError):
                unlock(record.admin)
        self.records.put(used_now(record, Lifetime()))

    def _left(self, record: Record, why: str, stop: Stop) -> Left:
        self.let_go(record)
        return Left(record, why, self._diffstat(record, stop))

    def _removed(self, record: Record, agreed: tuple[str, ...], stop: Stop) -> Left:
        done: Removal = remove(record, self._ports.caller(), agreed=agreed, stop=stop)
        if done.kept:
            return self._left(record, done.kept, stop)
        self.records.drop(record.slug)
        return Left(record)

    def _diffstat(self, record: Record, stop: Stop) -> str:
        """How much changed in it since it was made; an empty text where that cannot be told."""
        if record.by_hook:
            return ""
        try:
            with git_in(self._ports.caller(), record.tree, stop) as git:
                changed = git.run("diff", "--shortstat", record.base, seconds=SHORT).decode()
                new = git.run("ls-files", "-z", "-o", "--exclude-standard", seconds=SHORT)
        except OSError:
            return ""
        count = len([name for name in new.split(b"\0") if name])
        parts = [changed.strip(), f"{counted(count, 'file')} untracked" if count else ""]
        return ", ".join(part for part in parts if part)


def stands(record: Record) -> bool:
    """Whether it is the directory that was made, and a checkout of its own. Reads small files."""
    try:
        info = record.tree.lstat()
    except OSError:
        return False
    if (info.st_dev, info.st_ino) != record.inode or os.path.realpath(record.path) != record.path:
        return False
    if record.by_hook:
        return True
    found = repository_of(record.tree)
    return found is not None and found.root == record.tree and found.git == record.admin
