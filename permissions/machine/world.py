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
from typing import TYPE_CHECKING

from gatewright.permissions.paths import Place, components_meet
from gatewright.tools.system.exact import open_exact, real_path
from gatewright.tools.system.git import Caller, Stop, aside, git_in
from gatewright.tools.system.gitfiles import filtering, repository_of
from gatewright.tools.system.patterns import later
from gatewright.tools.system.programs import SYSTEM, planted

if TYPE_CHECKING:
    from gatewright.permissions.machine.links import Followed


DNS_SECONDS = 5.0
GIT_SECONDS = 10.0
MAX_ANSWERS = 64
MAX_MATCHES = 2000
_NOTHING: Mapping[str, str] = MappingProxyType({})
SYSTEM_GIT = Caller({"PATH": SYSTEM, "HOME": "/nonexistent"})  # without the person's ignore file


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
        from gatewright.permissions.machine.links import on_disk  # noqa: PLC0415  lazy

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

    def linked(self, directory: str) -> tuple[str, ...]:
        from gatewright.permissions.machine.links import links_out_of  # noqa: PLC0415  lazy

        return links_out_of(directory)

    def nested_repository(self, directory: str, root: str) -> bool:
        current = directory
        while current != root and current.startswith(root + "/"):
            if os.path.lexists(f"{current}/.git") or _looks_bare(current):
                return True
            current = current.rpartition("/")[0]
        return _looks_bare(directory)

    def planted(self, program: str) -> bool:
        place = self._place
        if not place.search:
            return False
        avoid = (place.root, place.start, *place.directories, *place.last)
        search = ":".join((place.search, *place.last))
        return planted(program, search, {"HOME": place.home}, avoid)

    def text(self, path: str, most: int) -> str | None:
        with contextlib.suppress(OSError, UnicodeDecodeError), open_exact(path) as file:
            data = file.read(most + 1)
            return data.decode("utf-8") if len(data) <= most else None
        return None

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

    def loses(self, path: str, *, whole: bool) -> bool | None:
        if not whole and os.path.isdir(path):  # noqa: PTH112  a Path would cost more than the call
            return False  # what is in it stays
        return not self.recoverable(path)


_ESCAPED = later(r"\\(.)", re.DOTALL)


def _children(directory: str, part: str) -> list[str]:
    base = directory.rstrip("/")
    if not any(char in part for char in "*?["):
        both = dict.fromkeys((part, _ESCAPED.sub(r"\1", part)))  # as it stands, or of a pattern
        return [path for name in both if os.path.lexists(path := f"{base}/{name}")]
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


async def fetch_missing(resolver: DiskResolver, lookup: Lookup, dirty: Dirty, keeps: Keeps) -> bool:
    """Fill in what the last decision missed; False when nothing was missing."""
    hosts, resolver.missing_hosts = resolver.missing_hosts, set()
    trees, resolver.missing_trees = resolver.missing_trees, set()
    for host in sorted(hosts)[:MAX_ANSWERS]:
        resolver.hosts[host] = await lookup(host)
    for tree in sorted(trees)[:MAX_ANSWERS]:
        resolver.trees[tree] = await dirty(tree)
    paths, resolver.missing_kept = resolver.missing_kept, set()
    for path in sorted(paths)[:MAX_ANSWERS]:
        resolver.kept[path] = await keeps(path)
    return bool(hosts or trees or paths)


async def lookup_host(host: str) -> tuple[str, ...]:
    """Every address of a name; a name that does not answer leads nowhere."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError, UnicodeError, TimeoutError):
        async with asyncio.timeout(DNS_SECONDS):
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
    return ()


STATUS: tuple[str, ...] = ("status", "--porcelain")
KEPT: tuple[str, ...] = ("ls-files", "-z", "-v", "--stage", "--")
LOST: tuple[str, ...] = (*STATUS, "--ignored", "--untracked-files=all", "--")
_PLAIN = later(rb"H 1(?:00644|00755|20000) [0-9a-f]+ 0\t")  # a file or link, nothing hidden


async def git_dirty(directory: str, caller: Caller = SYSTEM_GIT) -> bool:
    """Whether git has something to lose; unknown counts as yes.

    Filters do not run: a file that only one of them would find unchanged counts as changed.
    """

    def ask(stop: Stop) -> bool:
        with git_in(caller, Path(directory), stop) as git:
            return bool(git.run(*STATUS, seconds=GIT_SECONDS).strip())

    try:
        return await aside(ask)
    except OSError:
        return True


async def git_keeps(path: str, caller: Caller = SYSTEM_GIT) -> bool:
    """Whether all at and below a path is committed as it is on the disk; unknown counts as no.

    What is ignored, untracked, staged only, hidden from git by a flag of the index, or in a
    repository of its own is not; nor anything where a filter may have taken something out.
    """
    directory, _, name = path.rpartition("/")
    folder = Path(directory or "/")

    def ask(stop: Stop) -> bool:
        found = repository_of(folder)
        if found is None or filtering(found, caller.env):
            return False
        with git_in(caller, folder, stop) as git:
            listed = git.run(*KEPT, f"./{name}", seconds=GIT_SECONDS)
            if not listed or not all(_PLAIN.match(one) for one in listed.split(b"\0") if one):
                return False
            return not git.run(*LOST, f"./{name}", seconds=GIT_SECONDS).strip()

    try:
        return await aside(ask)
    except OSError:
        return False
