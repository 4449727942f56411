"""Where saved workflows lie, the first word first, and which files are there. Reads none of them.

What an untrusted project says comes after all else, so it can take nobody's name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.agent.settings.paths import CLAUDE, Places, claude_home, folders_down
from gatewright.tools.access import Where
from gatewright.tools.system.project import FOLDER

WORKFLOWS = "workflows"
SUFFIX = ".js"
MOST = 200  # files of one place
BUILT_IN = Path(__file__).parents[1] / "builtin"
Origin: TypeAlias = Literal["project", "user", "claude", "plugin", "builtin"]


class PluginScripts(msgspec.Struct, frozen=True):
    """What a plugin brings: directories of scripts, or single ones."""

    name: str
    root: Path
    paths: tuple[Path, ...]


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """All that decides which places there are."""

    places: Places
    where: Where
    env: Mapping[str, str]
    trusted: bool
    bare: bool = False
    sources: tuple[str, ...] | None = None  # of user, project, local; None: all
    plugins: tuple[PluginScripts, ...] = ()


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A directory, or one file. `inside`: links that lead out of it are not followed."""

    path: Path
    origin: Origin
    trusted: bool = True
    inside: str = ""
    plugin: str = ""


class Seen(msgspec.Struct, frozen=True):
    """A file as it is now; another one, or other text in it, is another `mark`."""

    path: Path
    place: Place
    mark: tuple[int, int, int, int]


def places_of(ground: Ground) -> Sequence[Place]:
    """In the order in which a name counts. What is built in is no place: it is data."""
    if ground.bare:
        return ()
    project = list(_of_project(ground)) if _wants(ground, "project") else []
    user = list(_of_user(ground)) if _wants(ground, "user") else []
    own = (project, user) if ground.trusted else ((), user)
    first = [each for group in own for each in group if each.origin != "claude"]
    then = [each for group in own for each in group if each.origin == "claude"]
    last = () if ground.trusted else project
    return (*first, *then, *_of_plugins(ground), *last)


def _wants(ground: Ground, source: str) -> bool:
    return ground.sources is None or source in ground.sources


def _of_project(ground: Ground) -> Iterator[Place]:
    """The nearest directory first. What is the person's own there is no project's."""
    root = ground.where.root
    own = {ground.places.home, claude_home(ground.env)}
    homes: tuple[tuple[str, Origin], ...] = ((FOLDER, "project"), (CLAUDE, "claude"))
    for home, origin in homes:
        for folder in reversed(list(folders_down(root, ground.where.cwd))):
            if folder / home not in own:
                yield Place(
                    path=folder / home / WORKFLOWS,
                    origin=origin,
                    trusted=ground.trusted,
                    inside=os.path.realpath(root),
                )


def _of_user(ground: Ground) -> Iterator[Place]:
    yield Place(path=ground.places.home / WORKFLOWS, origin="user")
    yield Place(path=claude_home(ground.env) / WORKFLOWS, origin="claude")


def _of_plugins(ground: Ground) -> Iterator[Place]:
    for plugin in ground.plugins:
        inside = os.path.realpath(plugin.root)
        for path in plugin.paths:
            yield Place(path=path, origin="plugin", inside=inside, plugin=plugin.name)


def files_of(place: Place) -> Sequence[Seen]:
    """Its scripts, by name; an unreadable directory is an empty one."""
    if place.inside and not _within(place, place.path):
        return ()
    if place.path.suffix == SUFFIX:  # a plugin may name one
        one = _seen(place, place.path)
        return (one,) if one is not None else ()
    try:
        with os.scandir(place.path) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return ()
    scripts = [name for name in names if name.endswith(SUFFIX) and not name.startswith(".")]
    found = (_seen(place, place.path / name) for name in scripts[:MOST])
    return tuple(each for each in found if each is not None)


def _seen(place: Place, path: Path) -> Seen | None:
    """None where it is no file, or somewhere else."""
    try:
        if place.inside and path.is_symlink() and not _within(place, path):
            return None
        info = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(info.st_mode):
        return None
    return Seen(path, place, (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino))


def _within(place: Place, path: Path) -> bool:
    real = os.path.realpath(path)
    return real == place.inside or real.startswith(f"{place.inside}/")
