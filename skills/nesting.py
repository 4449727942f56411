"""Directories below cwd that have skills of their own: found when a file in them is touched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gatewright.skills.ignoring import Ignores, ignored, ignores_in
from gatewright.skills.places import COMMANDS, HOMES, SKILLS

MOST = 200  # nested places of a session
FOLDERS = 20_000  # that are looked at for all of them
SKIPPED = frozenset(
    {"node_modules", "__pycache__", "site-packages", "venv", "target", "dist", "build", "vendor"}
)


def nested_above(path: Path, cwd: Path, passed: set[str]) -> tuple[str, ...]:
    """The directories between cwd and a file that have skills; each is looked at once."""
    if not path.is_relative_to(cwd):
        return ()
    steps = path.relative_to(cwd).parts[:-1]
    found: list[str] = []
    here = cwd
    for step in steps:
        here = here / step
        if step in SKIPPED or step.startswith("."):
            break
        if str(here) not in passed and len(passed) < FOLDERS:
            passed.add(str(here))
            if _has_skills(here):
                found.append(str(here))
    return tuple(found)


def nested_below(cwd: Path, root: Path) -> tuple[str, ...]:
    """All of them, in the order of their paths, but in what the project's .gitignore names.

    Links to directories are not followed.
    """
    found: list[str] = []
    for looked, folder in enumerate(_folders(str(cwd), _above(cwd, root))):
        if looked > FOLDERS or len(found) >= MOST:
            break
        if _has_skills(Path(folder)):
            found.append(folder)
    return tuple(sorted(found))


def _folders(top: str, above: tuple[Ignores, ...]) -> Iterator[str]:
    rules = {top: above}  # of directories that are still to be looked at
    for here, below, _ in os.walk(top):
        holding = (*rules.pop(here, above), *ignores_in(here))
        names = (n for n in below if n not in SKIPPED and not n.startswith("."))
        below[:] = sorted(name for name in names if not ignored(f"{here}/{name}", holding))
        paths = [f"{here}/{name}" for name in below]
        rules |= dict.fromkeys(paths, holding)
        yield from paths


def _above(cwd: Path, root: Path) -> tuple[Ignores, ...]:
    """What the directories over cwd say, the nearest last."""
    if not cwd.is_relative_to(root):
        return ()
    steps = cwd.relative_to(root).parts
    folders = (root.joinpath(*steps[:count]) for count in range(len(steps)))
    return tuple(each for folder in folders for each in ignores_in(str(folder)))


def _has_skills(folder: Path) -> bool:
    return any(
        os.path.isdir(f"{folder}/{home}/{kind}")  # noqa: PTH112  texts throughout
        for home in HOMES
        for kind in (SKILLS, COMMANDS)
    )
