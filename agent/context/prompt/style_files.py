"""Output styles in files: the administrator's, the person's, a trusted project's, plugins'.

What comes first has the name, so a project replaces nothing of the person's own. A file that
cannot be used is named and hides no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.agents.definitions.places import Ground, Place, files_of, places_of
from gatewright.agent.context.prompt.output_style import BUILT_IN, OutputStyle, built_in
from gatewright.agent.text.printable import escaped
from gatewright.skills.frontmatter import FrontError, read_front_file

FOLDER = "output-styles"
ORDER = ("managed", "user", "project", "plugin")
FIELDS = ("name", "description", "keep-coding-instructions", "force-for-plugin")
MOST = 200  # files in all
LONGEST = 40_000  # characters of a text
NAME, DESCRIPTION = 64, 300
TRUE = ("yes", "on", "1", "true")


class Styles(msgspec.Struct, frozen=True):
    """In the order of their places; built-in ones at the end. `problems` name a file each."""

    every: tuple[OutputStyle, ...]
    problems: tuple[str, ...] = ()

    def find(self, name: str) -> OutputStyle | None:
        """A plugin's also without the plugin's name, where nobody else has it."""
        wanted = name.strip().casefold()
        return next((each for each in self.every if each.name.casefold() == wanted), None) or next(
            (
                each
                for each in self.every
                if each.origin == "plugin" and each.name.casefold().partition(":")[2] == wanted
            ),
            None,
        )


def styles_of(ground: Ground) -> Styles:
    """All there are now."""
    found: dict[str, OutputStyle] = {}
    problems: list[str] = []
    for number, (path, place) in enumerate(_files(ground)):
        if number == MOST:
            problems.append(f"There are more than {MOST} output styles: the rest is left out.")
            break
        read = _read(path, place)
        if isinstance(read, str):
            problems.append(escaped(read))
        elif read is not None and read.name.casefold() != "default":
            found.setdefault(read.name.casefold(), read)
    every = list(found.values())
    every += [style for name in BUILT_IN if name not in found and (style := built_in(name))]
    return Styles(tuple(every), tuple(problems))


def _files(ground: Ground) -> Iterator[tuple[Path, Place]]:
    places = [place for place in places_of(ground, FOLDER) if place.standing.trusted]
    places.sort(key=lambda place: ORDER.index(place.standing.origin))
    for place in places:
        for seen in files_of(place):
            if seen.path.parent == place.folder:
                yield seen.path, place


def _read(path: Path, place: Place) -> OutputStyle | str | None:
    """Or why it cannot be used; None for what is no style: it says nothing."""
    try:
        front = read_front_file(path, FIELDS)
    except FrontError as error:
        at = f"{path}:{error.line}" if error.line else str(path)
        return f"{at}: {error}."
    if front is None:
        return f"{path}: it does not begin with ---, so it is no output style."
    if not front.body.strip():
        return f"{path}: it has no text below its front matter."
    said: dict[str, Any] = dict(front.values)
    name = " ".join((front.said.get("name") or path.stem).split())[:NAME]
    plugin = place.standing.plugin
    description = " ".join(str(said.get("description") or "").split())
    return OutputStyle(
        name=escaped(f"{plugin}:{name}" if plugin else name),
        description=escaped(description)[:DESCRIPTION],
        text=front.body[:LONGEST],
        coding=_yes(said.get("keep-coding-instructions")),
        origin=place.standing.origin,
        path=path,
        offered=bool(plugin) and _yes(said.get("force-for-plugin")),
    )


def _yes(value: object) -> bool:
    return value is True or str(value).strip().lower() in TRUE


def names_of(styles: Sequence[OutputStyle]) -> str:
    return ", ".join(style.name for style in styles)
