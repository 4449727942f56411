"""The files of the project for the `@` menu, listed in the background and cached.

The first listing is offered as it grows; a later one takes the place of the old when it is whole.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from pathlib import Path

from gatewright.tools.protocol import Child, SpawnRequest, ToolFailure
from gatewright.tools.system.processes import NOWHERE, spawn
from gatewright.tools.system.programs import find
from gatewright.tools.system.project import here
from gatewright.tui.prompt.match import score
from gatewright.tui.prompt.menu import Choice

MAX_FILES = 100_000
FRESH = 20.0  # seconds a listing is used
LIMIT = 20.0  # seconds the listing may take
SHOWN = 50
SCORED = 1000
TOLD = 0.1  # seconds between two looks at a list that grows
RARE = "qzxjkvywbghfpmudclnosirate"  # letters of names of files, the rarest first
# What nobody means, also where no ignore file says so.
UNREAD = ("--glob=!**/__pycache__", "--glob=!*.pyc", "--glob=!**/.DS_Store")
MISSING = "there is no ripgrep to list the files with"

_PLAIN = re.compile(r"[^\s\"'<>|]*[^\s\"'<>|.,;:!?)\]}]")  # needs no quotes to be found again


class _Listing:
    """Paths in the order they came, with their folders; `low` are the same in lower case."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.low: list[str] = []
        self._folders: set[str] = set()

    @property
    def full(self) -> bool:
        return len(self.paths) - len(self._folders) >= MAX_FILES

    def add(self, files: Sequence[str]) -> None:
        room = MAX_FILES - len(self.paths) + len(self._folders)
        taken = sorted(files[:room])
        folders = {path[: path.rindex("/") + 1] for path in taken if "/" in path}
        new = sorted(folders - self._folders)
        self._folders.update(new)
        self.paths += new
        self.paths += taken
        self.low += map(str.lower, new)
        self.low += map(str.lower, taken)

    def in_order(self) -> _Listing:
        """The same, folders first, each kind sorted. For a thread."""
        ordered = _Listing()
        ordered._folders = self._folders
        files = [path for path in self.paths if not path.endswith("/")]
        files.sort()  # of sorted pieces: soon done
        ordered.paths = [*sorted(self._folders), *files]
        ordered.low = [path.lower() for path in ordered.paths]
        return ordered


class Files:
    """Paths below a root, relative; directories end with a slash."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._shown = _Listing()
        self._listed = 0.0
        self._pool: tuple[str, int, Sequence[str], Sequence[str]] = ("", 0, [], [])
        self.indexing = False
        self._missing = False

    @property
    def stale(self) -> bool:
        return time.monotonic() - self._listed > FRESH or not self._listed

    @property
    def note(self) -> str:
        """What to say below the choices while there may be more of them, or can be none."""
        if self._missing:
            return MISSING
        return "indexing files" if self.indexing else ""

    async def refresh(self, grown: Callable[[], None] = lambda: None) -> None:
        """Read the tree again, with ripgrep, so that ignore files count.

        `grown` is called when there is more to offer of a first listing.
        """
        self._listed = time.monotonic()
        first = not self._shown.paths
        listing = _Listing()
        if first:
            self._shown, self.indexing = listing, True
        try:
            await self._list(listing, grown if first else lambda: None)
            self._shown = await asyncio.to_thread(listing.in_order)
            self._pool = ("", 0, [], [])
        finally:
            self.indexing = False

    async def _list(self, listing: _Listing, grown: Callable[[], None]) -> None:
        program = find_rg(self.root)
        self._missing = not program
        if not program:
            return
        told = 0.0
        async with aclosing(_with_rg(program, self.root)) as pieces:
            async for files in pieces:
                listing.add(files)
                if time.monotonic() - told > TOLD:
                    grown()
                    told = time.monotonic()
                if listing.full:
                    return

    def offer(self, query: str) -> tuple[list[Choice], str]:
        """For the menu: what fits, and what to say below it."""
        return self.choices(query), self.note

    def choices(self, query: str) -> list[Choice]:
        """The best matches; exact parts first, then letters in order."""
        wanted = query.lower()
        found = _best(wanted, *self._narrowed(wanted))
        return [Choice(mention(path), path, open=path.endswith("/")) for path in found]

    def _narrowed(self, wanted: str) -> tuple[Sequence[str], Sequence[str]]:
        """Paths with all the letters; of a word that grew only those that had the ones before."""
        known, count, paths, low = self._pool
        total = len(self._shown.paths)
        if not known or count != total or not wanted.startswith(known):
            known, paths, low = "", self._shown.paths, self._shown.low
        paths, low = _having(set(wanted) - set(known), paths, low)
        self._pool = (wanted, total, paths, low)
        return paths, low


def mention(path: str) -> str:
    """The path as a message points at it; a folder is left open, for what is in it."""
    if _PLAIN.fullmatch(path) or '"' in path:
        return f"@{path}"
    return f'@"{path}' if path.endswith("/") else f'@"{path}"'


def rank(query: str, paths: Sequence[str], low: Sequence[str]) -> list[str]:
    """Paths that fit, best first. Cheap tests first: a large tree must not be felt."""
    return _best(query.lower(), *_having(query.lower(), paths, low))


def _having(
    letters: Iterable[str], paths: Sequence[str], low: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Paths with all these letters, wherever; the rarest leave few to look at."""
    for letter in sorted(set(letters), key=RARE.find):  # what is no letter is rarer still
        kept = [n for n, path in enumerate(low) if letter in path]
        if len(kept) < len(paths):
            paths, low = [paths[n] for n in kept], [low[n] for n in kept]
    return paths, low


def _best(wanted: str, paths: Sequence[str], low: Sequence[str]) -> list[str]:
    """Of paths that have all letters: those with the word itself, then in its order."""
    if not wanted:
        return list(paths[:SHOWN])
    found = [n for n, path in enumerate(low) if wanted in path]
    if len(found) < SHOWN:
        known = set(found)
        found += [n for n in range(len(low)) if n not in known]
    scored: list[tuple[int, int]] = []
    for number in found[:SCORED]:
        path = low[number]
        name = path.rstrip("/").rpartition("/")[2]
        in_path, in_name = score(wanted, path), score(wanted, name)
        if in_path is not None or in_name is not None:
            best = max(in_path if in_path is not None else -999, (in_name or -999) + 300)
            scored.append((-best + len(path) // 4, number))
    scored.sort()
    return [paths[number] for _points, number in scored[:SHOWN]]


def find_rg(root: Path) -> str:
    """Our own ripgrep, or one that does not lie inside the project; empty for none."""
    beside = Path(sys.executable).with_name("rg")
    return str(beside) if beside.exists() else find("rg", os.environ, here(os.environ, root))


async def _with_rg(program: str, root: Path) -> AsyncGenerator[list[str]]:
    """The files ripgrep finds, as it finds them; none where it cannot run or takes too long."""
    request = SpawnRequest(
        argv=(program, "--files", "--hidden", "--no-config", "--glob=!.git", *UNREAD),
        cwd=root,
        env=os.environ,
        errors=NOWHERE,
        leaves=True,  # it starts nothing: nobody has to look for that
    )
    try:
        child = await spawn(request)
    except ToolFailure:  # the folder is gone, or the program cannot run here
        return
    rest, end = b"", time.monotonic() + LIMIT
    try:
        while piece := await _read(child, end - time.monotonic()):
            whole, cut, rest = (rest + piece).rpartition(b"\n")
            if cut:
                yield whole.decode("utf-8", "replace").split("\n")
            await asyncio.sleep(0)  # a pipe full is 2 ms of work: a key may have come
    finally:
        await child.kill(0.0)


async def _read(child: Child, seconds: float) -> bytes:
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            return await child.read()
    except TimeoutError:
        return b""
