"""What differs between the last commit and the files, read with git but without its programs.

A repository may come from anybody: besides what `gitrun` takes away, no filter, no driver for
differences and no submodule of it runs anything here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from gatewright.agent.history.gitrun import git_env, run_git

TIME = 15.0
LARGEST = 1_000_000  # bytes of a file whose lines are looked at
MOST = 2000  # files
_FILTER_KEYS = (".clean", ".smudge", ".process", ".required")
_QUIET = ("--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all")


class Changed(msgspec.Struct, frozen=True):
    """A file below the root; lines are -1 where they are not counted: binary, or too large."""

    path: str
    kind: str  # changed, new, deleted, untracked
    added: int = 0
    removed: int = 0


class WorkTree:
    """Every method raises OSError when there is no git, no repository, or it takes too long."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        self._root = root
        self._env = git_env(env)

    def there(self) -> bool:
        """Whether the root is in a repository; costs no process where it plainly is not."""
        return any((folder / ".git").exists() for folder in (self._root, *self._root.parents))

    def changes(self) -> list[Changed]:
        """Everything uncommitted, by path; the first MOST."""
        base, quiet = self._base(), (*_QUIET, "--relative", "-z")
        listed = self._git("diff", *quiet, "--name-status", base)
        fields = [os.fsdecode(field) for field in listed.split(b"\0") if field]
        kinds = dict(zip(fields[1::2], fields[::2], strict=False))
        counts = dict(_counts(self._git("diff", *quiet, "--numstat", base)))
        found = [
            Changed(path, {"A": "new", "D": "deleted"}.get(kind, "changed"), *counts.get(path, ()))
            for path, kind in kinds.items()
        ]
        found += [self._untracked(path) for path in self._others() if path not in kinds]
        return sorted(found, key=lambda each: each.path)[:MOST]

    def old(self, path: str) -> bytes | None:
        """The file as it was committed; None: it was not."""
        name = f"{self._base()}:./{path}"
        try:
            size = int(self._git("cat-file", "-s", name))
        except OSError:
            return None
        if size > LARGEST:
            raise OSError("too large to be shown")
        return self._git("cat-file", "blob", name)

    def new(self, path: str) -> bytes | None:
        """The file as it is now; None: it is gone."""
        return read_now(self._root / path)

    def _base(self) -> str:
        """The last commit, or nothing at all before the first."""
        try:
            return self._git("rev-parse", "--verify", "-q", "HEAD").decode().strip()
        except OSError:
            return self._git("hash-object", "-t", "tree", os.devnull).decode().strip()

    def _others(self) -> list[str]:
        listed = self._git("ls-files", "-z", "-o", "--exclude-standard")
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
        return [name for name in names if not name.endswith("/")][:MOST]

    def _untracked(self, path: str) -> Changed:
        try:
            data = self.new(path) or b""
        except OSError:
            return Changed(path, "untracked", -1, -1)
        lines = -1 if b"\0" in data[:8000] else len(data.splitlines())
        return Changed(path, "untracked", lines, 0 if lines >= 0 else -1)

    def _git(self, *arguments: str) -> bytes:
        env = {**self._env, **self._unfiltered()} if arguments[0] == "diff" else self._env
        return run_git(arguments, cwd=self._root, env=env, limit=TIME)

    def _unfiltered(self) -> dict[str, str]:
        """Settings that leave every filter without a program; a name may hold any character."""
        listed = run_git(
            ["config", "--null", "--name-only", "--list"],
            cwd=self._root, env=self._env, limit=TIME,
        )  # fmt: skip
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
        filters = {n for n in names if n.startswith("filter.") and n.endswith(_FILTER_KEYS)}
        given = {"GIT_CONFIG_COUNT": str(len(filters))}
        for number, name in enumerate(sorted(filters)):
            given[f"GIT_CONFIG_KEY_{number}"] = name
            given[f"GIT_CONFIG_VALUE_{number}"] = "false" if name.endswith(".required") else ""
        return given


def read_now(path: Path) -> bytes | None:
    """The bytes of a regular file, of a link where it leads; None: there is nothing."""
    if path.is_symlink():
        return os.fsencode(path.readlink())
    if not path.exists():
        return None
    if not path.is_file():
        raise OSError("no regular file")
    if path.stat().st_size > LARGEST:
        raise OSError("too large to be shown")
    return path.read_bytes()


def _counts(listed: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    for entry in listed.split(b"\0"):
        added, _, rest = entry.partition(b"\t")
        removed, _, name = rest.partition(b"\t")
        if name:
            binary = added == b"-"
            yield os.fsdecode(name), (-1, -1) if binary else (int(added), int(removed))
