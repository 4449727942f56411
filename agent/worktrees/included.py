"""What a new tree gets besides what is committed: ignored files that `.worktreeinclude` names, and
links to directories that would be the same again.

Both are remembered, so that they are known to be copies when the tree is removed.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Final

import msgspec

from gatewright.agent.worktrees.record import Copied, Record
from gatewright.tools.system.exact import open_directory, open_exact
from gatewright.tools.system.git import Caller, Stop, git_in

INCLUDE: Final = ".worktreeinclude"
MOST: Final = 2000  # files
LARGEST: Final = 256 * 1024 * 1024  # bytes in all
TIME: Final = 15.0


class Bringing(msgspec.Struct, frozen=True, kw_only=True):
    """What settings say of new trees. A project says none of it until it is trusted."""

    include: bool = False  # follow `.worktreeinclude`
    links: tuple[str, ...] = ()
    sparse: tuple[str, ...] = ()


def bring(
    bringing: Bringing, record: Record, caller: Caller, stop: Stop | None
) -> tuple[Record, tuple[str, ...]]:
    """The record with what was brought, and what was not, in sentences."""
    root, notes = Path(record.root), list[str]()
    copied: tuple[Copied, ...] = ()
    if bringing.include and (root / INCLUDE).is_file():
        try:
            copied = tuple(_copies(root, record.tree, _named(root, caller, stop), notes))
        except OSError as error:
            notes.append(f"{INCLUDE} could not be followed: {error}")
    links = tuple(_links(root, record.tree, bringing.links, notes))
    return msgspec.structs.replace(record, copied=copied, links=links), tuple(notes)


def _named(root: Path, caller: Caller, stop: Stop | None) -> list[str]:
    """Files that the patterns name and that git ignores; what is committed is there already."""
    with git_in(caller, root, stop) as git:
        named = git.run("ls-files", "-z", "-o", "-i", f"--exclude-from={root / INCLUDE}",
                        seconds=TIME)  # fmt: skip
        names = [os.fsdecode(name) for name in named.split(b"\0") if name][: MOST + 1]
        names = [name for name in names if not name.startswith(".gatewright/")]
        if not names:
            return []
        ignored = git.run("ls-files", "-z", "-o", "-i", "--exclude-standard", "--", *names,
                          seconds=TIME)  # fmt: skip
    known = {os.fsdecode(name) for name in ignored.split(b"\0")}
    return [name for name in names if name in known]


def _copies(root: Path, tree: Path, names: list[str], notes: list[str]) -> list[Copied]:
    found: list[Copied] = []
    room = LARGEST
    for name in names[:MOST]:
        try:
            copied = _copy(root, tree, name, room)
        except OSError as error:
            notes.append(f"{name} was not copied: {error.strerror or error}")
            continue
        room -= copied.size
        found.append(copied)
    if len(names) > MOST:
        notes.append(f"{INCLUDE} names more than {MOST:,} files; the rest was not copied.")
    return found


def _copy(root: Path, tree: Path, name: str, room: int) -> Copied:
    """A regular file, with no link on either way to it."""
    with open_exact(root / name) as old:
        info = os.fstat(old.fileno())
        if info.st_size > room:
            raise OSError(f"all that is copied may have {LARGEST // 1024**2} MB")
        above = open_directory((tree / name).parent, make=True)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open((tree / name).name, flags, stat.S_IMODE(info.st_mode), dir_fd=above)
        finally:
            os.close(above)
        with open(fd, "wb") as new:  # noqa: PTH123  the descriptor that was made
            shutil.copyfileobj(old, new)
            new.flush()
            written = os.fstat(new.fileno())
    return Copied(name, written.st_size, written.st_mtime_ns)


def _links(
    root: Path, tree: Path, names: tuple[str, ...], notes: list[str]
) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for given in names:
        name = given.strip("/")
        there = root / name
        if not name or ".." in Path(name).parts or name.split("/")[0] in (".git", ".gatewright"):
            notes.append(f"{given!r} is no directory that can be linked (worktree).")
        elif os.path.realpath(there) != str(there) or not there.is_dir():
            continue  # there is none, or it is a link itself
        elif os.path.lexists(tree / name) or not (tree / name).parent.is_dir():
            notes.append(f"{name} was not linked: it is committed.")
        else:
            (tree / name).symlink_to(there, target_is_directory=True)
            found.append((name, str(there)))
    return found
