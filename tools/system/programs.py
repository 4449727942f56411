"""The one way to find a program: by its name, absolutely, and never in the project.

Whoever writes a project could put a `git` or an `ls` into it. So a search path loses its relative
and empty entries and those inside the project, once, for us and for what we start.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gatewright.tools.system.project import everybodys

# Where the system has its programs: not a project's, even when the agent is started right there.
USUAL = (
    "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin",
    "/opt/homebrew/bin", "/run/current-system/sw/bin",
)  # fmt: skip
SYSTEM = os.pathsep.join(USUAL)
ACTIVATED = ("VIRTUAL_ENV", "CONDA_PREFIX")  # what a shell names when the person activates one


class SearchPath(NamedTuple):
    """A PATH, never empty: an empty one would mean the current directory.

    `activated` says that the programs of an activated virtual environment were dropped.
    """

    text: str
    given: str = ""
    dropped: tuple[str, ...] = ()
    activated: bool = False

    def notice(self) -> str:
        """What the person is told once; empty where nothing was dropped."""
        if not self.dropped:
            return ""
        one = len(self.dropped) == 1
        named = ", ".join(entry or "(an empty entry)" for entry in self.dropped)
        return (
            f"PATH is used without {named}: {'it leads' if one else 'they lead'} into the project, "
            "whose programs nobody vouched for. Call them by path, like ./bin/tool"
            + (", or trust the project to keep its virtual environment." if self.activated else ".")
        )


def search_path(
    env: Mapping[str, str], avoid: Iterable[str | Path] = (), *, activated: bool = False
) -> SearchPath:
    """The PATH of `env` without what is relative or below a directory of `avoid`.

    `activated`: the virtual environment that the person has activated stays, wherever it lies.
    """
    places = _places(avoid, env)
    own = {os.path.normpath(f"{env[name]}/bin") for name in ACTIVATED if env.get(name)}
    kept: dict[str, None] = {}
    dropped: dict[str, None] = {}
    for entry in env.get("PATH", SYSTEM).split(os.pathsep):
        fine = entry.startswith("/") and (
            not _below(entry, places) or (activated and os.path.normpath(entry) in own)
        )
        (kept if fine else dropped)[entry] = None
    if not any(kept):
        kept = dict.fromkeys(USUAL)
    lost = any(os.path.normpath(entry) in own for entry in dropped)
    given = env.get("PATH", "")
    return SearchPath(os.pathsep.join(kept), given, tuple(dropped) if given else (), lost)


def with_search_path(
    env: Mapping[str, str], avoid: Iterable[str | Path], *, activated: bool = True
) -> dict[str, str]:
    """The environment for what the person themselves starts here."""
    return {**env, "PATH": search_path(env, avoid, activated=activated).text}


def find(name: str, env: Mapping[str, str], avoid: Iterable[str | Path] = ()) -> str:
    """The absolute path of the program, or an empty string."""
    return next(candidates(name, env, avoid), "")


def candidates(
    name: str, env: Mapping[str, str], avoid: Iterable[str | Path] = ()
) -> Iterator[str]:
    """Every program of that name that we may start, in the order of PATH.

    Not one in a directory that everybody may write to, and no link into `avoid`.
    """
    avoid = tuple(avoid)
    places = _places(avoid, env)
    for entry in search_path(env, avoid).text.split(os.pathsep):
        path = os.path.join(entry, name)  # noqa: PTH118  text in, text out
        if _runs(path) and not _below(path, places) and not everybodys(entry):
            yield path


def planted(name: str, path: str, env: Mapping[str, str], avoid: Iterable[str | Path]) -> bool:
    """Whether a shell with this PATH would take `name` from `avoid`, or from everybody's place."""
    places = _places(avoid, env)
    for entry in path.split(os.pathsep):
        found = os.path.join(entry, name)  # noqa: PTH118  text in, text out
        if not entry.startswith("/"):
            return True
        if _runs(found):
            return _below(entry, places) or _below(found, places) or everybodys(entry)
    return False


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113  many, and no Path


def _places(avoid: Iterable[str | Path], env: Mapping[str, str]) -> frozenset[str]:
    """Every spelling of the directories. The person's home, and what it lies in, is no project."""
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111  the environment goes first
    homes = {os.path.normpath(home), os.path.realpath(home)}
    found = {spelled for place in avoid for spelled in (os.path.normpath(place), _real(place))}
    return frozenset(place for place in found if not any(_inside(one, place) for one in homes))


def _below(path: str, places: frozenset[str]) -> bool:
    """In either reading; what lies where the system has its programs stays its own."""
    return any(
        _inside(reading, place)
        for reading in {os.path.normpath(path), _real(path)}
        if reading not in USUAL and os.path.dirname(reading) not in USUAL  # noqa: PTH120
        for place in places
    )


def _real(path: str | Path) -> str:
    return os.path.realpath(path)


def _inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")
