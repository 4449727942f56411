"""A commit of a git repository as a source: its files come out of git's objects, byte for byte.

Git checks nothing out: it gives the list of a tree and the bytes of its files, and our own writer
writes them. So no filter, no line ends, no submodule and no hook has a part in it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gatewright.agent.plugins.sources.limits import Clock, SourceError
from gatewright.agent.plugins.sources.source import GitSource
from gatewright.agent.plugins.sources.writing import TreeWriter
from gatewright.tools.system.git import Caller, Git
from gatewright.tools.system.gitfetch import cloned

_AT_ONCE: Final = 16 * 1024 * 1024  # bytes of files that git gives in one go
_LIST: Final = 16 * 1024 * 1024
_HEADER: Final = 256
_PRIVATE: Final = ("could not read Username", "terminal prompts disabled", "Permission denied")
_NO_REF: Final = ("couldn't find remote ref", "not our ref", "unadvertised object", "git rev-parse")


class _Entry(NamedTuple):
    mode: str
    id: str
    size: int
    name: str


def checked_out(
    source: GitSource, writer: TreeWriter, caller: Caller, clock: Clock, scratch: Path | None = None
) -> str:
    """The commit whose files were written. Raises SourceError."""
    own = Path(tempfile.mkdtemp(prefix="gatewright-clone-", dir=scratch))

    def left() -> float:
        """Seconds, none of them where it has grown too large."""
        try:
            seconds = clock.left()
        except SourceError:
            return 0.0
        return seconds if _size(own) <= clock.limits.bytes else 0.0

    try:
        wanted = (source.ref, source.sha)
        with cloned(caller, source.url, wanted, own, left) as (git, commit):
            if source.sha and commit != source.sha:
                raise SourceError(f"{source.url} gave {commit} in place of {source.sha}.")
            _written(git, f"{commit}:{source.path}", writer, clock)
            return commit
    except OSError as error:
        if error.errno:  # of our own files; what git fails at has no number
            raise
        clock.left()
        if _size(own) > clock.limits.bytes:
            raise SourceError(f"It is larger than {clock.limits.amount}.") from error
        raise SourceError(_told(source, str(error))) from error
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _written(git: Git, tree: str, writer: TreeWriter, clock: Clock) -> None:
    entries = [
        *_entries(git.run("ls-tree", "-r", "-l", "-z", tree, seconds=clock.left(), most=_LIST))
    ]
    if len(entries) > clock.limits.files:
        raise SourceError(f"It has more than {clock.limits.files:,} files.")
    if sum(entry.size for entry in entries) > clock.limits.bytes:
        raise SourceError(f"It is larger than {clock.limits.amount}.")
    for batch in _batches(entries):
        for entry, data in zip(batch, _contents(git, batch, clock), strict=True):
            if entry.mode == "120000":
                writer.link(entry.name, os.fsdecode(data))
            else:
                writer.file(entry.name, (data,), executable=entry.mode == "100755")
    writer.finish()


def _entries(listed: bytes) -> Iterator[_Entry]:
    for line in listed.split(b"\0"):
        if not line:
            continue
        facts, _, name = line.partition(b"\t")
        mode, kind, id, size = os.fsdecode(facts).split()
        if kind == "blob":  # a commit is a submodule, which stays away
            yield _Entry(mode, id, int(size), os.fsdecode(name))


def _batches(entries: Sequence[_Entry]) -> Iterator[list[_Entry]]:
    batch, size = list[_Entry](), 0
    for entry in entries:
        if batch and size + entry.size > _AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield batch


def _contents(git: Git, batch: Sequence[_Entry], clock: Clock) -> Iterator[bytes]:
    """The bytes of each, as `cat-file --batch` prints them behind a line with their size."""
    most = sum(entry.size + _HEADER for entry in batch)
    asked = "".join(f"{entry.id}\n" for entry in batch).encode()
    out = memoryview(git.run("cat-file", "--batch", seconds=clock.left(), input=asked, most=most))
    at = 0
    for entry in batch:
        header = bytes(out[at : at + _HEADER]).partition(b"\n")[0]
        if header.split() != [entry.id.encode(), b"blob", str(entry.size).encode()]:
            raise SourceError("Git gave another file than it was asked for.")
        at += len(header) + 1
        yield bytes(out[at : at + entry.size])
        at += entry.size + 1


def _size(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(f"{path}/{name}").st_size
            except OSError:  # it was renamed meanwhile
                continue
    return total


def _told(source: GitSource, said: str) -> str:
    """What git says, where it is worth knowing, without its own words for it."""
    if "No space left on device" in said:
        return "There is no room left on the disk."
    if any(mark in said for mark in _PRIVATE):
        return (
            f"{source.url} is not there, or is private: with a key of yours it is reached as "
            "git@host:owner/repository."
        )
    if "Not a valid object name" in said and source.path:
        return f"{source.url} has no directory {source.path}."
    if any(mark in said for mark in _NO_REF):
        return f"{source.url} has no {source.sha or source.ref or 'commit'}."
    words = said.removeprefix("git ").partition(": ")[2].removeprefix("fatal: ")
    return f"{source.url} cannot be fetched: {(words or said).rstrip('.')}."
