"""Where definitions of agents and styles lie, the first word first, and which files are there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.agents.definitions.found import Standing
from gatewright.agent.settings.paths import AGENTS, HOMES, Places, claude_home, folders_down
from gatewright.tools.access import Where

DEPTH = 8
MOST = 1_000  # files of one place
ENTRIES = 5_000  # of all directories of a place
SKIPPED = frozenset({"node_modules", "__pycache__"})


class Place(msgspec.Struct, frozen=True):
    """`inside`: links that lead out of it are not followed; empty where they may."""

    folder: Path
    standing: Standing
    inside: str = ""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """All that decides which places there are. `roots` are those of plugins, by their name."""

    places: Places
    where: Where
    env: Mapping[str, str]
    trusted: bool
    bare: bool = False
    sources: tuple[str, ...] | None = None  # of user, project, local; None: all
    roots: tuple[tuple[str, Path], ...] = ()
    # Of plugins that say where something lies, by name and the folder in whose place it stands.
    named: Mapping[tuple[str, str], tuple[Path, ...]] = {}


class Seen(msgspec.Struct, frozen=True):
    """A file as it is now; another one, or other text in it, is another `mark`."""

    path: Path
    place: Place
    mark: tuple[int, int, int, int]


def places_of(ground: Ground, folder: str = AGENTS) -> Iterator[Place]:
    """In the order in which a name counts, as far as the project is trusted."""
    yield Place(ground.places.managed / folder, Standing("managed"))
    if ground.bare:
        return
    if _wants(ground, "project"):
        yield from _of_project(ground, folder)
    if _wants(ground, "user"):
        yield Place(ground.places.home / folder, Standing("user"))
        yield Place(claude_home(ground.env) / folder, Standing("user"))
    for name, root in ground.roots:
        for place in ground.named.get((name, folder), (root / folder,)):
            yield Place(place, Standing("plugin", plugin=name), os.path.realpath(root))


def _wants(ground: Ground, source: str) -> bool:
    return ground.sources is None or source in ground.sources


def _of_project(ground: Ground, kept_in: str) -> Iterator[Place]:
    """The nearest directory first. What is the person's own there is no project's."""
    root, cwd = ground.where.root, ground.where.cwd
    own = {ground.places.home, claude_home(ground.env)}
    standing = Standing("project", trusted=ground.trusted)
    inside = os.path.realpath(root)
    for folder in reversed(list(folders_down(root, cwd))):
        for home in HOMES:
            if folder / home not in own:
                yield Place(folder / home / kept_in, standing, inside)


def files_of(place: Place) -> Sequence[Seen]:
    """Its Markdown files, by name; an unreadable directory is an empty one."""
    if place.inside and not _within(place, place.folder):
        return ()
    if place.folder.suffix == ".md":  # a plugin may name one
        return _one(place)
    return _walked(place)


def _walked(place: Place) -> Sequence[Seen]:
    found: list[Seen] = []
    left = ENTRIES
    open_: list[tuple[str, int]] = [(str(place.folder), 0)]
    visited = {_identity(place.folder)}
    while open_ and left > 0 and len(found) < MOST:
        folder, depth = open_.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        left -= len(listed)
        deeper: list[tuple[str, int]] = []
        for entry in listed[: left + len(listed)]:
            if entry.name.startswith(".") or entry.name in SKIPPED:
                continue
            info = _info(entry, place)
            if info is None:
                continue
            if stat.S_ISDIR(info.st_mode):
                key = info.st_dev, info.st_ino
                if depth < DEPTH and key not in visited:
                    visited.add(key)
                    deeper.append((entry.path, depth + 1))
            elif entry.name.endswith(".md") and len(found) < MOST:
                mark = (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)
                found.append(Seen(Path(entry.path), place, mark))
        open_ += reversed(deeper)
    return found


def _one(place: Place) -> Sequence[Seen]:
    try:
        info = place.folder.stat()
    except OSError:
        return ()
    mark = (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)
    return (Seen(place.folder, place, mark),) if stat.S_ISREG(info.st_mode) else ()


def _identity(folder: Path) -> tuple[int, int]:
    try:
        info = folder.stat()
    except OSError:
        return -1, -1
    return info.st_dev, info.st_ino


def _within(place: Place, path: str | Path) -> bool:
    real = os.path.realpath(path)
    return real == place.inside or real.startswith(f"{place.inside}/")


def _info(entry: os.DirEntry[str], place: Place) -> os.stat_result | None:
    """Of what it leads to; None where that is nothing, or somewhere else."""
    try:
        if entry.is_symlink() and place.inside and not _within(place, entry.path):
            return None
        return entry.stat()
    except OSError:
        return None
