"""Themes of the person's own and of plugins: JSON files that change a built-in theme's colours.

`{"base": "dark", "summary": "...", "accent": "#ff8800", "modes": {"plan": "#00aaff"}}` in
`NAME.json`. A file that is wrong is told and left out; it never stops the program.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from rich.color import Color, ColorParseError

from gatewright.tools.system.regular import read_regular
from gatewright.tui.style.theme import DEFAULT, PALETTES, Palette

MAX_BYTES = 64 * 1024
NO_COLOURS = frozenset({"name", "summary", "dark", "modes", "ansi", "flat"})
KeepTheme: TypeAlias = Callable[[str], None]
COLOURS = tuple(field.name for field in fields(Palette) if field.name not in NO_COLOURS)


Palettes: TypeAlias = dict[str, Palette]


def none_more() -> Mapping[str, Path]:
    return {}


@dataclass(frozen=True)
class OwnThemes:
    """The folder with the person's own, and how the one they choose is kept.

    `more` gives files of plugins by name. It takes its time, so it is asked where one is named.
    """

    folder: Path
    keep: KeepTheme
    more: Callable[[], Mapping[str, Path]] = none_more

    def read(self, chosen: str) -> tuple[Palettes, list[str]]:
        """Those to begin with, and what is wrong; of plugins only if the chosen one is."""
        found, problems = read_palettes(self.folder)
        if ":" in chosen and chosen not in found:
            files = {name: path for name, path in self.more().items() if name == chosen}
            others, wrong = read_files(files)
            found |= others
            problems += wrong
            if not files:
                problems.append(
                    f"No plugin that is on has the theme {chosen}: /theme offers others."
                )
        return found, problems


def read_palette(name: str, text: str) -> Palette:
    """One theme from its file's text. Raises ValueError with what is wrong."""
    try:
        raw: object = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is no JSON: {error}") from None
    if not isinstance(raw, dict):
        raise ValueError("it is no JSON object")
    values: dict[str, Any] = {str(key): value for key, value in raw.items()}  # pyright: ignore
    base = PALETTES.get(str(values.pop("base", DEFAULT)))
    if base is None:
        raise ValueError(f"base is one of {', '.join(PALETTES)}")
    summary = str(values.pop("summary", "Your own"))
    modes = {**base.modes, **_modes(values.pop("modes", {}))}
    unknown = sorted(set(values) - set(COLOURS))
    if unknown:
        raise ValueError(f"there is no colour {unknown[0]}: {', '.join(COLOURS)}")
    colours = {key: _colour(key, value) for key, value in values.items()}
    changed = replace(base, **colours)  # type: ignore[arg-type]
    return replace(changed, name=name, summary=summary, modes=modes)


def _modes(raw: object) -> dict[str, str]:
    if not isinstance(raw, Mapping):
        raise ValueError("modes maps a mode to a colour")
    return {str(k): _colour(f"modes.{k}", v) for k, v in raw.items()}  # pyright: ignore


def _colour(key: str, value: object) -> str:
    try:
        Color.parse(str(value).removeprefix("ansi_"))
    except ColorParseError:
        raise ValueError(f"{key} is no colour: write it as #rrggbb") from None
    return str(value)


def read_palettes(folder: Path) -> tuple[Palettes, list[str]]:
    """The themes in a folder, and what is wrong with the others."""
    return read_files({path.stem: path for path in sorted(folder.glob("*.json"))})


def read_files(files: Mapping[str, Path]) -> tuple[Palettes, list[str]]:
    """The themes in these files by their names, and what is wrong with the others."""
    found: Palettes = {}
    problems: list[str] = []
    for name, path in files.items():
        try:
            text = read_regular(path, MAX_BYTES).decode("utf-8")
            found[name] = read_palette(name, text)
        except (OSError, ValueError, RecursionError) as error:
            problems.append(f"Theme {name.removesuffix(path.stem)}{path.name}: {error}.")
    return found, problems
