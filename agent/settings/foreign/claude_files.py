"""Claude Code's skills, commands, agents and styles brought over: each as a link or as a copy.

They count where they lie; who means to leave that directory behind has them in ours. What we have
under a name already stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.plugins.tree import BadTree, copy_tree, remove_tree
from gatewright.agent.settings.paths import CLAUDE, Places, claude_home
from gatewright.tools.system import private
from gatewright.tools.system.project import FOLDER
from gatewright.tools.system.regular import NotRegular, TooLarge, read_regular

KINDS = ("skills", "commands", "agents", "output-styles")
HERE = "it is there already"
MOST = 1_000  # entries of a directory
LARGEST = 1024 * 1024  # of a single file
Way: TypeAlias = Literal["link", "copy"]


class Entry(msgspec.Struct, frozen=True):
    """One file or directory of theirs. `why` it stays; empty where it can be brought.

    `inside` is what a project's own may not lead out of.
    """

    origin: Path
    target: Path
    why: str = ""
    inside: str = ""


def entries(places: Places, env: Mapping[str, str]) -> Iterator[Entry]:
    """All that could be brought, of the person and of the project."""
    own, project = claude_home(env), places.root / CLAUDE
    for folder, ours, inside in (
        (own, places.home, ""),
        (project, places.root / FOLDER, os.path.realpath(places.root)),
    ):
        if folder == own and inside:
            continue  # started in the home directory
        for kind in KINDS:
            for name in _names(folder / kind):
                yield _entry(folder / kind / name, ours / kind / name, inside)


def bring(entry: Entry, way: Way) -> str:
    """Returns what was done. Raises SettingsError."""
    try:
        if entry.inside:
            entry.target.parent.mkdir(parents=True, exist_ok=True)
        else:
            private.folder(entry.target.parent)
        if entry.inside and not _within(entry.target.parent, entry.inside):
            told = "leads out of the project: nothing is put in"
            raise SettingsError(f"{entry.target.parent} {told}.")
        if way == "link":
            entry.target.symlink_to(_shown_from(entry))
        elif entry.origin.is_dir():
            _copied(entry)
        else:
            data = read_regular(entry.origin, LARGEST)
            with entry.target.open("xb") as file:
                file.write(data)
    except (BadTree, NotRegular, TooLarge) as error:
        raise SettingsError(f"{entry.origin} stays where it is: {error}") from error
    except OSError as error:
        told = error.strerror or str(error)
        raise SettingsError(f"{entry.origin} cannot be brought over: {told}.") from error
    return f"{'Linked' if way == 'link' else 'Copied'} {entry.target}"


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            names = sorted(each.name for each in found if not each.name.startswith("."))
    except OSError:
        return []
    return names[:MOST]


def _entry(origin: Path, target: Path, inside: str) -> Entry:
    why = ""
    if inside and not _within(origin, inside):
        why = "it leads out of the project"
    elif os.path.lexists(target):
        same = os.path.realpath(target) == os.path.realpath(origin)
        why = HERE if same else "yours of that name is there and stays"
    elif not (origin.is_dir() or origin.is_file()):
        why = "it is neither a file nor a directory"
    return Entry(origin, target, why, inside)


def _within(path: Path, inside: str) -> bool:
    real = os.path.realpath(path)
    return real == inside or real.startswith(f"{inside}/")


def _shown_from(entry: Entry) -> Path:
    """Of a project relative: it may be checked out elsewhere."""
    if not entry.inside:
        return entry.origin
    return Path(os.path.relpath(entry.origin, entry.target.parent))


def _copied(entry: Entry) -> None:
    """Whole or not at all. What is copied is for the person to edit."""
    aside = entry.target.with_name(f".{entry.target.name}.{os.getpid()}.new")
    try:
        tree = copy_tree(entry.origin, aside)
        for item in tree.items:
            if not item.link:
                (aside / item.path).chmod(0o755 if item.program else 0o644)
        aside.rename(entry.target)
    finally:
        remove_tree(aside)
