"""What differs between the last commit and the files, as git tells it without its programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gatewright.tools.system.git import Caller, Git, git_in
from gatewright.tools.system.regular import NotRegular, TooLarge, read_regular

TIME = 15.0
LARGEST = 1_000_000  # bytes of a file whose lines are looked at
MOST = 2000  # files
_QUIET = ("--no-renames", "--relative", "-z")


class Changed(msgspec.Struct, frozen=True):
    """A file below the root; lines are -1 where they are not counted: binary, or too large."""

    path: str
    kind: str  # changed, new, deleted, untracked
    added: int = 0
    removed: int = 0


class WorkTree:
    """Every method raises OSError when there is no git, no repository, or it takes too long."""

    def __init__(self, root: Path, caller: Caller) -> None:
        self._root = root
        self._caller = caller

    def there(self) -> bool:
        """Whether the root is in a repository; costs no process where it plainly is not."""
        return any((folder / ".git").exists() for folder in (self._root, *self._root.parents))

    def changes(self) -> list[Changed]:
        """Everything uncommitted, by path; the first MOST."""
        with git_in(self._caller, self._root) as git:
            base = _base(git)
            listed = git.run("diff", *_QUIET, "--name-status", base, seconds=TIME)
            counted = git.run("diff", *_QUIET, "--numstat", base, seconds=TIME)
            others = _others(git)
        fields = [os.fsdecode(field) for field in listed.split(b"\0") if field]
        kinds = dict(zip(fields[1::2], fields[::2], strict=False))
        counts = dict(_counts(counted))
        found = [
            Changed(path, {"A": "new", "D": "deleted"}.get(kind, "changed"), *counts.get(path, ()))
            for path, kind in kinds.items()
        ]
        found += [self._untracked(path) for path in others if path not in kinds]
        return sorted(found, key=lambda each: each.path)[:MOST]

    def old(self, path: str) -> bytes | None:
        """The file as it was committed; None: it was not."""
        with git_in(self._caller, self._root) as git:
            name = f"{_base(git)}:./{path}"
            try:
                size = int(git.run("cat-file", "-s", name, seconds=TIME))
            except OSError:
                return None
            if size > LARGEST:
                raise OSError("too large to be shown")
            return git.run("cat-file", "blob", name, seconds=TIME)

    def new(self, path: str) -> bytes | None:
        """The file as it is now; None: it is gone."""
        return read_now(self._root / path)

    def _untracked(self, path: str) -> Changed:
        try:
            data = self.new(path) or b""
        except OSError:
            return Changed(path, "untracked", -1, -1)
        lines = -1 if b"\0" in data[:8000] else len(data.splitlines())
        return Changed(path, "untracked", lines, 0 if lines >= 0 else -1)


def _base(git: Git) -> str:
    """The last commit, or nothing at all before the first."""
    try:
        return git.run("rev-parse", "--verify", "-q", "HEAD", seconds=TIME).decode().strip()
    except OSError:
        return git.run("hash-object", "-t", "tree", os.devnull, seconds=TIME).decode().strip()


def _others(git: Git) -> list[str]:
    listed = git.run("ls-files", "-z", "-o", "--exclude-standard", seconds=TIME)
    names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    return [name for name in names if not name.endswith("/")][:MOST]


def read_now(path: Path) -> bytes | None:
    """The bytes of a regular file, of a link where it leads; None: there is nothing."""
    if path.is_symlink():
        return os.fsencode(path.readlink())
    try:
        return read_regular(path, LARGEST, follow=False)
    except FileNotFoundError:
        return None
    except NotRegular as error:
        raise OSError("no regular file") from error
    except TooLarge as error:
        raise OSError("too large to be shown") from error


def _counts(listed: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    for entry in listed.split(b"\0"):
        added, _, rest = entry.partition(b"\t")
        removed, _, name = rest.partition(b"\t")
        if name:
            binary = added == b"-"
            yield os.fsdecode(name), (-1, -1) if binary else (int(added), int(removed))
