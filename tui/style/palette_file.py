"""Themes of the person's own: JSON files that change some colours of a built-in theme.

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


@dataclass(frozen=True)
class OwnThemes:
    """The folder with the person's own, and how the one they choose is kept."""

    folder: Path
    keep: KeepTheme


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


def read_palettes(folder: Path) -> tuple[dict[str, Palette], list[str]]:
    """The themes in a folder, and what is wrong with the others."""
    found: dict[str, Palette] = {}
    problems: list[str] = []
    for path in sorted(folder.glob("*.json")):
        try:
            text = read_regular(path, MAX_BYTES).decode("utf-8")
            found[path.stem] = read_palette(path.stem, text)
        except (OSError, ValueError, RecursionError) as error:
            problems.append(f"Theme {path.name}: {error}.")
    return found, problems
