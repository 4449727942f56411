"""Where a person can keep a rule or a directory: this session, or one of their settings files.

A shelf that settings in force are not read from is not offered.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.workspace import Surroundings

SESSION = "session"
ONLY_HERE = ", for this project"
CHANGEABLE = (SESSION, Source.LOCAL, Source.PROJECT, Source.USER)


class Shelf(msgspec.Struct, frozen=True):
    """`under` are the keys above `permissions` in the file; the session has no file."""

    name: str
    label: str
    file: Path | None = None
    under: tuple[str, ...] = ()
    shown: str = ""

    @property
    def place(self) -> str:
        """For a sentence: "Added to ..."."""
        return f"{self.label} ({self.shown})" if self.shown else self.label


def shelves(around: Surroundings, *, directories: bool = False) -> list[Shelf]:
    """The nearest first. An untrusted project's files are not believed: they are no shelf."""
    found = [Shelf(SESSION, "this session")]
    if around.trusted:
        found += _filed(around, Source.LOCAL, "this project, for you")
        found += _filed(around, Source.PROJECT, "this project, for everyone")
    elif not directories:
        label = "this project, for you"
        under = ("projects", str(around.where.root))
        found += _filed(around, Source.USER, label, name=str(Source.LOCAL), under=under)
    return [*found, *_filed(around, Source.USER, "all your projects")]


def place_of(source: str, around: Surroundings) -> str:
    """Where something of this source stands, for people."""
    if source == SESSION:
        return "this session"
    names = {"cli": "the command line", "flag": "--settings", "builtin": "built in"}
    if source in names:
        return names[source]
    try:
        path = around.places.file(Source(source))
    except ValueError:
        path = None
    return around.where.shown(path) if path is not None else source


def _filed(
    around: Surroundings,
    source: Source,
    label: str,
    *,
    name: str = "",
    under: tuple[str, ...] = (),
) -> list[Shelf]:
    path = around.places.file(source)
    taken = path == around.places.file(Source.USER) and source is not Source.USER
    if path is None or taken or path not in around.loaded.files:
        return []
    shown = around.where.shown(path) + (ONLY_HERE if under else "")
    return [Shelf(name or str(source), label, path, under, shown)]
