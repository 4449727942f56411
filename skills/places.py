"""Where skills and command files lie, the first word first. Looks at nothing but link targets.

What an untrusted project says comes after all else, so it can take nobody's name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gatewright.skills.model import Form, Origin
from gatewright.tools.system.patterns import later
from gatewright.tools.system.project import FOLDER

HOMES = (FOLDER, ".agents", ".claude")  # of a project, ours first
SKILLS, COMMANDS = "skills", "commands"
SKILL = "SKILL.md"
BUILT_IN = Path(__file__).parent / "builtin"
_PLAIN = later(r"(?:[^\W_]|[ ./@+_-]){1,200}")
SKIPPED = frozenset({"node_modules", "__pycache__"})


class PluginPlace(msgspec.Struct, frozen=True):
    """What a plugin brings: a directory with a SKILL.md is one skill, commands may be files."""

    name: str
    root: Path
    skills: tuple[Path, ...]
    commands: tuple[Path, ...]


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """All that decides which places there are. `homes` are the person's own, ours first."""

    managed: Path
    homes: tuple[Path, ...]
    root: Path
    cwd: Path
    trusted: bool
    bare: bool = False
    bundled: bool = True
    sources: tuple[str, ...] | None = None  # of user, project, local; None: all
    plugins: tuple[PluginPlace, ...] = ()
    built_in: Path = BUILT_IN


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One directory. `inside`: links that lead out of it are not followed; empty: they may."""

    folder: str
    form: Form
    origin: Origin
    whose: str
    trusted: bool = True
    inside: str = ""
    nested: str = ""
    base: str = ""  # where `paths` of what is in it start
    called: str = ""  # the name of a skill that is the directory itself; else the directory's


def places_of(ground: Ground, nested: tuple[str, ...] = ()) -> Iterator[Place]:
    """Skills before command files, but the person's own of both before anybody else's.

    `nested` are directories below cwd whose own places count by now.
    """
    own = [*_managed(ground), *_user(ground)]
    project = [*_project(ground), *_nested(ground, nested)]
    others = [*_plugins(ground), *_built_in(ground)]
    if ground.trusted:
        others = [*project, *others]
        project = []
    for group in (own, others, project):
        yield from (place for place in group if place.form == "skill")
        yield from (place for place in group if place.form == "command")


def _both(folder: Path, place: Place) -> Iterator[Place]:
    yield msgspec.structs.replace(place, folder=str(folder / SKILLS), form="skill")
    yield msgspec.structs.replace(place, folder=str(folder / COMMANDS), form="command")


def _managed(ground: Ground) -> Iterator[Place]:
    yield from _both(ground.managed, _blank(ground, "managed", "managed"))


def _user(ground: Ground) -> Iterator[Place]:
    if _wants(ground, "user"):
        for home in ground.homes:
            yield from _both(home, _blank(ground, "user", "user"))


def _wants(ground: Ground, source: str) -> bool:
    return not ground.bare and (ground.sources is None or source in ground.sources)


def _project(ground: Ground) -> Iterator[Place]:
    """The nearest directory first."""
    if not _wants(ground, "project"):
        return
    for folder in _up(ground.root, ground.cwd):
        yield from _in_project(ground, folder, nested=False)


def _nested(ground: Ground, nested: tuple[str, ...]) -> Iterator[Place]:
    if _wants(ground, "project"):
        for folder in nested:
            yield from _in_project(ground, Path(folder), nested=True)


def _in_project(ground: Ground, folder: Path, *, nested: bool) -> Iterator[Place]:
    """What is the person's own there is no project's."""
    below = str(folder.relative_to(ground.root)) if folder.is_relative_to(ground.root) else "."
    if below != "." and not _PLAIN.fullmatch(below):  # it would be a name that people are told
        if nested:
            return
        below = "."
    inside = "" if ground.trusted else os.path.realpath(ground.root)
    place = Place(
        folder="",
        form="skill",
        origin="project",
        whose="project" if below == "." else below,
        trusted=ground.trusted,
        inside=inside,
        nested=below if nested else "",
        base=str(folder),
    )
    for home in HOMES:
        if folder / home not in ground.homes:
            yield from _both(folder / home, place)


def _plugins(ground: Ground) -> Iterator[Place]:
    if ground.bare:
        return
    for plugin in ground.plugins:
        inside = os.path.realpath(plugin.root)
        blank = _blank(ground, "plugin", plugin.name)
        place = msgspec.structs.replace(blank, inside=inside)
        for folder in plugin.skills:
            called = plugin.name if folder == plugin.root else ""
            yield msgspec.structs.replace(place, folder=str(folder), called=called)
        for folder in plugin.commands:
            yield msgspec.structs.replace(place, folder=str(folder), form="command")


def _built_in(ground: Ground) -> Iterator[Place]:
    if ground.bundled:
        place = _blank(ground, "built-in", "builtin")
        yield msgspec.structs.replace(place, folder=str(ground.built_in))


def _blank(ground: Ground, origin: Origin, whose: str) -> Place:
    return Place(folder="", form="skill", origin=origin, whose=whose, base=str(ground.root))


def _up(root: Path, cwd: Path) -> Iterator[Path]:
    """From a directory up to the project's root; elsewhere that directory alone."""
    yield cwd
    if cwd.is_relative_to(root):
        yield from (folder for folder in cwd.parents if folder.is_relative_to(root))
