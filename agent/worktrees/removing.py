"""Removes a tree that holds nothing, looked at twice: where it stands, and once more where nobody
reaches it. What comes up in between keeps it, put back as it was.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from gatewright.agent.worktrees.checking import Held, check, tracked
from gatewright.agent.worktrees.making import looking
from gatewright.agent.worktrees.record import Record
from gatewright.tools.system.exact import open_directory
from gatewright.tools.system.git import Caller, Stop, git_of
from gatewright.tools.system.gitfiles import repository_of

TIME: Final = 60.0
LEAVING: Final = ".leaving-"


class Removal(msgspec.Struct, frozen=True):
    """`kept` says why the tree is still there; empty: it is gone."""

    kept: str = ""


def leaving(record: Record) -> Path:
    """Where a tree waits for its end."""
    return record.tree.with_name(f"{LEAVING}{record.slug}")


def remove(
    record: Record, caller: Caller, *, agreed: tuple[str, ...] = (), stop: Stop | None = None
) -> Removal:
    """Only what is clean, or holds exactly what the person `agreed` to lose. Never raises."""
    held = check(record, record.tree, caller, stop)
    if why := _against(held, agreed):
        return Removal(why)
    away = leaving(record)
    try:
        if os.path.lexists(away):
            return Removal(f"{away} is in the way")
        record.tree.rename(away)
    except OSError as error:
        return Removal(f"it could not be moved ({error.strerror})")
    return _gone(record, away, caller, agreed, stop)


def finish(record: Record, caller: Caller) -> Removal:
    """Go on with one that a crash cut off: back where it was, whole, and then as any other."""
    away = leaving(record)
    if os.path.lexists(record.tree) or not away.is_dir():
        return Removal("it is not where it was")
    return Removal(_back(record, away, caller) or "its removal had been cut off; it is whole again")


def _against(held: Held, agreed: tuple[str, ...]) -> str:
    if held.firm or (held.losses and held.losses != agreed):
        return held.text()
    return ""


def _gone(
    record: Record, away: Path, caller: Caller, agreed: tuple[str, ...], stop: Stop | None
) -> Removal:
    """It stands where no path leads that anybody had."""
    why = _against(check(record, away, caller, stop), agreed)
    if not why:
        try:
            if agreed:
                shutil.rmtree(away)
            else:
                _delete(record, away, caller, stop)
        except OSError as error:
            why = f"it could not be removed ({error.strerror or error})"
    if why:
        return Removal(_back(record, away, caller) or why)
    forget(record, caller, agreed)
    return Removal()


def _delete(record: Record, away: Path, caller: Caller, stop: Stop | None) -> None:
    """Exactly the files that were known, then empty directories: anything else stops it."""
    with looking(record, away, caller, stop) as git:
        git.run("read-tree", record.base, seconds=TIME)
        known = [name for name, link in tracked(git) if not link]
    known += [os.fsencode(each.path) for each in record.copied]
    known += [os.fsencode(link) for link, _ in record.links]
    _each(away, known, os.unlink)
    for folder, _, _ in os.walk(away, topdown=False):
        if folder != str(away):
            os.rmdir(folder)  # noqa: PTH106
    left = [name for name in os.listdir(away) if name != ".git"]  # noqa: PTH208
    if left:
        raise OSError(f"{left[0]} appeared in it")
    (away / ".git").unlink()
    away.rmdir()


def _each(away: Path, names: Iterable[bytes], act: Callable[..., None]) -> None:
    """Below the directory that it names, no link followed; what is not there is done already."""
    for folder, inside in _by_folder(names):
        try:
            above = open_directory(away / os.fsdecode(folder))
        except FileNotFoundError:
            continue
        try:
            for name in inside:
                with contextlib.suppress(FileNotFoundError):
                    act(name, dir_fd=above)
        finally:
            os.close(above)


def _by_folder(names: Iterable[bytes]) -> Iterator[tuple[bytes, list[bytes]]]:
    found: dict[bytes, list[bytes]] = {}
    for name in names:
        folder, _, last = name.rpartition(b"/")
        found.setdefault(folder, []).append(last)
    return iter(found.items())


def _back(record: Record, away: Path, caller: Caller) -> str:
    """What was committed comes out of git again; why that could not be, else an empty text."""
    try:
        if not os.path.lexists(away / ".git"):
            (away / ".git").write_text(f"gitdir: {record.admin}\n", encoding="utf-8")
        away.rename(record.tree)
        with looking(record, record.tree, caller, None) as git:
            missing = git.run("ls-files", "-z", "-d", seconds=TIME)
            if missing:
                git.run("checkout-index", "-z", "--stdin", seconds=TIME, input=missing)
    except OSError as error:
        at = record.tree if record.tree.exists() else away
        return f"it stands in {at}, and not all files could be put back ({error})"
    return ""


def forget(record: Record, caller: Caller, agreed: tuple[str, ...] = ()) -> None:
    """What git knows of it, and its branch where that is still what it began as or was agreed."""
    root = Path(record.root)
    with contextlib.suppress(OSError):
        shutil.rmtree(record.admin)
    with contextlib.suppress(OSError):
        record.admin.parent.rmdir()  # the last one was it
    found = repository_of(root)
    if found is None:
        return
    with contextlib.suppress(OSError), git_of(caller, found, root, None, (found.common,)) as git:
        old = record.base
        if agreed:
            listed = git.run("for-each-ref", "--format=%(objectname)", record.branch, seconds=TIME)
            old = listed.decode().strip()
        git.run("update-ref", "-d", record.branch, old, seconds=TIME)
