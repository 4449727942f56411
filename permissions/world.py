"""The machine behind a decision: links and repositories on disk, answers fetched beforehand.

Names and git states need waiting, so `decide` only reads what is known and writes down what it
missed; the gate fetches that and decides again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from gatewright.permissions.links import Followed, on_disk
from gatewright.permissions.paths import Place, components_meet
from gatewright.tools.system.exact import real_path

DNS_SECONDS = 5.0
GIT_SECONDS = 10.0
MAX_ANSWERS = 64
MAX_MATCHES = 2000
_NOTHING: Mapping[str, str] = MappingProxyType({})


class DiskResolver:
    """Answers from the file system at once, and from `answers` for names and git states."""

    def __init__(self, place: Place, known: Mapping[str, str] = _NOTHING) -> None:
        """`known` is where paths led when the call was looked at: that is judged, and used."""
        self._place = place
        self._known = known
        self.hosts: dict[str, tuple[str, ...]] = {}
        self.trees: dict[str, bool] = {}
        self.missing_hosts: set[str] = set()
        self.missing_trees: set[str] = set()
        self.kept: dict[str, bool] = {}
        self.missing_kept: set[str] = set()

    def real(self, path: str) -> str:
        known = self._known.get(path)
        return real_path(path) if known is None else known

    def followed(self, path: str) -> Followed:
        return on_disk(path)

    def expand(self, pattern: str) -> tuple[str, ...] | None:
        """Every path a glob matches, up to a limit beyond which nobody can tell."""
        head, _, tail = pattern.partition("/")
        found = [head or "/"]
        for part in tail.split("/"):
            following: list[str] = []
            for directory in found:
                following.extend(_children(directory, part))
                if len(following) > MAX_MATCHES:
                    return None
            found = following
        return tuple(found)

    def config_links(self) -> tuple[str, ...]:
        found: list[str] = []
        for directory in dict.fromkeys((self._place.root, self._place.start, self._place.home)):
            link = f"{directory}/.gatewright"
            if os.path.islink(link):  # noqa: PTH114  a Path would cost more than the call
                found.append(real_path(link))
        return tuple(found)

    def nested_repository(self, directory: str, root: str) -> bool:
        current = directory
        while current != root and current.startswith(root + "/"):
            if os.path.lexists(f"{current}/.git") or _looks_bare(current):
                return True
            current = current.rpartition("/")[0]
        return _looks_bare(directory)

    def addresses(self, host: str) -> tuple[str, ...]:
        if host not in self.hosts:
            self.missing_hosts.add(host)
            return ()
        return self.hosts[host]

    def dirty(self, directory: str) -> bool:
        if directory not in self.trees:
            self.missing_trees.add(directory)
            return True
        return self.trees[directory]

    def recoverable(self, path: str) -> bool:
        if not os.path.lexists(path):
            return True  # where nothing is, nothing is lost
        if path not in self.kept:
            self.missing_kept.add(path)
            return False
        return self.kept[path]


def _children(directory: str, part: str) -> list[str]:
    base = directory.rstrip("/")
    if not any(char in part for char in "*?["):
        path = f"{base}/{part}"
        return [path] if os.path.lexists(path) else []
    with contextlib.suppress(OSError):
        names = os.listdir(directory)  # noqa: PTH208  strings are wanted
        return [f"{base}/{name}" for name in names if components_meet(name, part)]
    return []


def _looks_bare(directory: str) -> bool:
    """A directory that git itself would take for a repository."""
    return all(os.path.lexists(f"{directory}/{name}") for name in ("HEAD", "objects", "refs"))


Lookup = Callable[[str], Awaitable[tuple[str, ...]]]
Dirty = Callable[[str], Awaitable[bool]]
Keeps = Callable[[str], Awaitable[bool]]


async def fetch_missing(
    resolver: DiskResolver, lookup: Lookup, dirty: Dirty, keeps: Keeps | None = None
) -> bool:
    """Fill in what the last decision missed; False when nothing was missing."""
    hosts, resolver.missing_hosts = resolver.missing_hosts, set()
    trees, resolver.missing_trees = resolver.missing_trees, set()
    for host in sorted(hosts)[:MAX_ANSWERS]:
        resolver.hosts[host] = await lookup(host)
    for tree in sorted(trees)[:MAX_ANSWERS]:
        resolver.trees[tree] = await dirty(tree)
    paths, resolver.missing_kept = resolver.missing_kept, set()
    for path in sorted(paths)[:MAX_ANSWERS]:
        resolver.kept[path] = await (keeps or git_keeps)(path)
    return bool(hosts or trees or paths)


async def lookup_host(host: str) -> tuple[str, ...]:
    """Every address of a name; a name that does not answer leads nowhere."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError, UnicodeError, TimeoutError):
        async with asyncio.timeout(DNS_SECONDS):
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
    return ()


SAFE_GIT: tuple[str, ...] = (
    "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "core.pager=cat", "-c", "diff.external=", "-c", "safe.bareRepository=explicit",
)  # fmt: skip


GIT_ENV: Mapping[str, str] = {
    "PATH": os.defpath, "HOME": "/nonexistent", "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1",
}  # fmt: skip
FILTERS: tuple[str, ...] = (
    "config", "--includes", "--show-scope", "--name-only", "--get-regexp", r"^filter\.",
)  # fmt: skip
STATUS: tuple[str, ...] = ("status", "--porcelain", "--ignore-submodules=all")
KEPT: tuple[str, ...] = ("--literal-pathspecs", "ls-files", "-z", "-v", "--stage", "--")
LOST: tuple[str, ...] = (
    "--literal-pathspecs", "status", "--porcelain", "--ignored", "--untracked-files=all",
    "--ignore-submodules=all", "--",
)  # fmt: skip
_PLAIN = re.compile(rb"H 1(?:00644|00755|20000) [0-9a-f]+ 0\t")  # a file or link, nothing hidden
FOUND_NONE = 1  # how git config ends when no key fits


async def git_dirty(directory: str) -> bool:
    """Whether git has something to lose; unknown counts as yes.

    A repository may name programs that `status` would run on its files: then it is not asked.
    """
    if await _filtered(directory):
        return True
    status = await _git(directory, STATUS)
    return status is None or status[0] != 0 or bool(status[1].strip())


async def _filtered(directory: str) -> bool:
    """Whether git would run programs of the configuration on files; unknown counts as yes."""
    filters = await _git(directory, FILTERS)
    if filters is None or filters[0] not in (0, FOUND_NONE):
        return True
    return not all(line.startswith(b"system\t") for line in filters[1].splitlines())


async def git_keeps(path: str) -> bool:
    """Whether all at and below a path is committed as it is on the disk; unknown counts as no.

    What is ignored, untracked, staged only, hidden from git by a flag of the index, or in a
    repository of its own is not.
    """
    directory, _, name = path.rpartition("/")
    if await _filtered(directory or "/"):
        return False
    listed = await _git(directory or "/", (*KEPT, f"./{name}"))
    if listed is None or listed[0] != 0 or not listed[1]:
        return False
    if not all(_PLAIN.match(entry) for entry in listed[1].split(b"\0") if entry):
        return False
    status = await _git(directory or "/", (*LOST, f"./{name}"))
    return status is not None and status[0] == 0 and not status[1].strip()


async def _git(directory: str, arguments: tuple[str, ...]) -> tuple[int | None, bytes] | None:
    """How it ended and what it printed; None where it could not run or took too long."""
    with contextlib.suppress(OSError, TimeoutError):
        process = await asyncio.create_subprocess_exec(
            *SAFE_GIT, *arguments,
            cwd=Path(directory), env=GIT_ENV,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(GIT_SECONDS):
                output, _ = await process.communicate()
        finally:  # too late, or nobody wants to know any more
            if process.returncode is None:
                process.kill()
                await process.wait()
        return process.returncode, output
    return None
