"""Whether a tree of ours holds anything that would be lost with it. What is not known counts.

Nothing that lies in the tree is believed: files are compared with what was checked out by their
bytes, whatever the index says of them.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from gatewright.agent.worktrees.exact_bytes import other_bytes
from gatewright.agent.worktrees.making import looking
from gatewright.agent.worktrees.names import counted
from gatewright.agent.worktrees.record import Record
from gatewright.tools.system.git import Caller, Git, Stop
from gatewright.tools.system.gitfiles import repository_of
from gatewright.tools.system.regular import read_regular

TIME: Final = 120.0
NAMED: Final = 20
LARGEST_LOG: Final = 16 * 1024 * 1024
# What git leaves in a tree's own directory while something is under way.
UNDER_WAY: Final = {
    "MERGE_HEAD": "a merge", "rebase-merge": "a rebase", "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert", "BISECT_LOG": "a bisection",
    "sequencer": "a series of picks", "MERGE_AUTOSTASH": "a stash",
}  # fmt: skip


class Held(msgspec.Struct, frozen=True):
    """Why a tree stays, one sentence each; nothing means that it can go.

    `firm` are those that no wish of the person's lifts; `losses` is what a discard would lose.
    """

    firm: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        return not self.firm and not self.losses

    def text(self) -> str:
        return "; ".join((*self.firm, *self.losses))


def check(record: Record, tree: Path, caller: Caller, stop: Stop | None = None) -> Held:
    """`tree` is where it stands now. Never raises: what cannot be seen is a reason to keep it."""
    try:
        if firm := tuple(_standing(record, tree)):
            return Held(firm)
        with looking(record, tree, caller, stop) as git:
            tips = _refs(git, record.branch)
            at = tips[0] if tips else record.base
            told = (*_commits(record, tips, git), *_logged(record, at, git))
            losses = (*told, *_files(record, tree, at, git))
            stashed = tuple(_stashed(record, git))
        return Held(stashed, losses)
    except (OSError, ValueError) as error:
        return Held((f"it could not be looked through ({error})",))


def _standing(record: Record, tree: Path) -> Iterator[str]:
    """What makes it this very tree, with nothing under way and nobody in it."""
    if record.by_hook:
        yield "a hook made it"
        return
    info = tree.lstat()
    if (info.st_dev, info.st_ino) != record.inode or os.path.realpath(tree) != str(tree):
        yield "it is not the directory that was made"
        return
    found = repository_of(tree)
    if found is None or found.root != tree or found.git != record.admin:
        yield "it is not a separate checkout any more"
        return
    if found.ref != record.branch:
        yield f"it is on {found.branch or 'no branch'}, not on {record.short}"
    for name, what in UNDER_WAY.items():
        if os.path.lexists(record.admin / name):
            yield f"{what} is in progress"
    if os.path.lexists(record.admin / "modules"):
        yield "it has submodules of its own"
    if record.held():
        yield f"process {record.owner.pid} works in it"
    yield from _inside(tree)


def _commits(record: Record, now: list[str], git: Git) -> Iterator[str]:
    if not now:
        yield f"the branch {record.short} is gone"
    elif now != [record.base]:
        try:
            ahead = int(git.run("rev-list", "--count", f"{record.base}..{now[0]}", seconds=TIME))
        except OSError:
            ahead = 0
        yield counted(ahead, "commit") if ahead else "the branch was moved"


def _refs(git: Git, name: str) -> list[str]:
    listed = git.run("for-each-ref", "--format=%(objectname)", name, seconds=TIME)
    return listed.decode().split()


def _stashed(record: Record, git: Git) -> Iterator[str]:
    """Stashes belong to the whole repository; they say on which branch they were made."""
    if not _refs(git, "refs/stash"):
        return
    log = Path(record.common) / "logs" / "refs" / "stash"
    if not log.exists():
        yield "there is a stash, and it cannot be told whose"
        return
    for line in read_regular(log, LARGEST_LOG).decode("utf-8", "replace").splitlines():
        said = line.partition("\t")[2]
        when = _moment(line)
        if said.startswith((f"WIP on {record.short}:", f"On {record.short}:")):
            yield "something is stashed there"
            return
        if "(no branch)" in said and when >= int(record.made):
            yield "something was stashed on no branch"
            return


def _logged(record: Record, at: str, git: Git) -> Iterator[str]:
    """Commits that only the tree's own log leads to would be lost with it."""
    log = record.admin / "logs" / "HEAD"
    if not log.exists():
        return
    told = {record.base, at}
    if at != record.base:
        listed = git.run("rev-list", f"{record.base}..{at}", seconds=TIME)
        told.update(listed.decode().split())
    for line in read_regular(log, LARGEST_LOG).decode("utf-8", "replace").splitlines():
        fields = line.split(" ", 2)
        if len(fields) < 2 or fields[1] not in told:
            yield "other commits were checked out there"
            return


def _moment(line: str) -> int:
    fields = line.partition("\t")[0].split()
    return int(fields[-2]) if len(fields) > 2 and fields[-2].isdecimal() else 2**40


def _files(record: Record, tree: Path, at: str, git: Git) -> Iterator[str]:
    """First what the tree's own index holds, then all bytes against a fresh one."""
    staged = git.run("diff", "--cached", "--name-only", "-z", at, seconds=TIME)
    names = [os.fsdecode(name) for name in staged.split(b"\0") if name]
    git.run("read-tree", at, seconds=TIME)
    listed = git.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all",
                     "--ignored=traditional", seconds=TIME)  # fmt: skip
    filled = [os.fsdecode(name) for name, link in tracked(git) if link and _filled(tree, name)]
    yield from _named("in submodules", filled)
    yield from _named("staged", [name for name in names if not _left_out(record, name)])
    changed, new, ignored = list[str](), list[str](), list[str]()
    for entry in listed.split(b"\0"):
        kind, name = entry[:2], os.fsdecode(entry[3:])
        if not entry or kind[1:] == b" " or _brought(record, tree, name):
            continue
        if kind == b"??":
            new.append(name)
        elif kind == b"!!":
            ignored.append(name)
        elif kind[1:] != b"D" or not _left_out(record, name):
            changed.append(name)
    changed += other_bytes(record, tree, git, changed)
    yield from _named("changed", changed)
    yield from _named("untracked", new)
    yield from _named("ignored by git", ignored)


def tracked(git: Git) -> Iterator[tuple[bytes, bool]]:
    """What the index holds, each with whether it is another repository's place."""
    for entry in git.run("ls-files", "-z", "--stage", seconds=TIME).split(b"\0"):
        about, _, name = entry.partition(b"\t")
        if name:
            yield name, about.startswith(b"160000")


def _filled(tree: Path, name: bytes) -> bool:
    place = tree / os.fsdecode(name)
    return os.path.lexists(place) and (place.is_symlink() or any(place.iterdir()))


def _left_out(record: Record, name: str) -> bool:
    """Never checked out here: its absence is no change."""
    if not record.sparse or "/" not in name:
        return False
    return not any(name == head or name.startswith(f"{head}/") for head in record.sparse)


def _named(what: str, names: list[str]) -> Iterator[str]:
    if names:
        shown = ", ".join(name[:200] for name in sorted(names)[:NAMED])
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield f"{counted(len(names), 'file')} {what}: {shown}{more}"


def _brought(record: Record, tree: Path, name: str) -> bool:
    """A copy or a link of ours, still the same as what it was made from."""
    for link, leads in record.links:
        if link == name.rstrip("/"):
            return (tree / link).is_symlink() and os.readlink(tree / link) == leads  # noqa: PTH115
    copied = next((each for each in record.copied if each.path == name), None)
    if copied is None:
        return False
    info = (tree / name).lstat()
    if (info.st_size, info.st_mtime_ns) != (copied.size, copied.mtime):
        return False
    original = Path(record.root) / name
    return original.is_file() and filecmp.cmp(tree / name, original, shallow=False)


def _inside(tree: Path) -> Iterator[str]:
    """Processes that work in it: their directory, or a file that they have open."""
    if not Path("/proc/self").exists():
        yield "which processes work in it cannot be seen here"
        return
    head = f"{tree}/"
    for entry in os.scandir("/proc"):
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        for link in _places(entry.path):
            if link == str(tree) or link.startswith(head):
                yield f"process {entry.name} works in it"
                break


def _places(process: str) -> Iterator[str]:
    """Those of other people's processes cannot be read, and they cannot write here."""
    for name in ("cwd", "root"):
        try:
            yield os.readlink(f"{process}/{name}")  # noqa: PTH115  every process
        except OSError:
            continue
    try:
        descriptors = os.listdir(f"{process}/fd")  # noqa: PTH208  every process
    except OSError:
        return
    for name in descriptors:
        try:
            yield os.readlink(f"{process}/fd/{name}")  # noqa: PTH115
        except OSError:
            continue
