"""Every colour of the screen, by meaning: one table per theme, nothing else names a colour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.color import Color
from rich.style import Style

if TYPE_CHECKING:
    from textual.theme import Theme

_FILE = Path(__file__).with_name("themes.json")


@dataclass(frozen=True)
class Palette:
    """`modes` colours the status line; `ansi` themes use the terminal's own sixteen colours."""

    name: str
    summary: str
    dark: bool
    background: str
    surface: str  # prompt, dialogs
    raised: str  # the row under the cursor
    text: str
    dim: str
    faint: str
    accent: str
    good: str
    warning: str
    error: str
    added: str  # backgrounds of diff rows
    removed: str
    added_word: str  # and of the words in them that changed
    removed_word: str
    keyword: str
    string: str
    number: str
    modes: Mapping[str, str] = field(default_factory=dict[str, str])
    ansi: bool = False
    flat: bool = False  # surfaces look like the background: lines part them

    def mode(self, name: str) -> str:
        return self.modes.get(name, self.dim)


# which colour of a theme a mode has where the theme itself says nothing else
_MODES: Mapping[str, str] = {
    "default": "dim",
    "acceptEdits": "good",
    "plan": "accent",
    "auto": "good",
    "autoInProject": "good",
    "work": "good",
    "bypassPermissions": "error",
    "fullAccess": "error",
    "dontAsk": "warning",
    "delegate": "accent",
}


def _built_in() -> dict[str, Palette]:
    """Those of `themes.json`, where each names all its colours."""
    found: dict[str, Palette] = {}
    rows = msgspec.json.decode(_FILE.read_bytes(), type=dict[str, dict[str, Any]])
    for name, row in rows.items():
        usual = {mode: row[colour] for mode, colour in _MODES.items()}
        given: dict[str, Any] = {**row, "modes": {**usual, **row.get("modes", {})}}
        found[name] = Palette(name, **given)
    return found


PALETTES: Mapping[str, Palette] = _built_in()
DEFAULT = "dark"
ANSI = PALETTES["ansi"]

# `keyword+added` is one role on the ground of another
# role -> how it looks: foreground, background (palette fields; "" is inherited), attributes
ROLES: Mapping[str, tuple[str, str, str]] = {
    "background": ("text", "background", ""),
    "surface": ("text", "surface", ""),
    "text": ("text", "", ""),
    "dim": ("dim", "", ""),
    "faint": ("faint", "", ""),
    "accent": ("accent", "", ""),
    "good": ("good", "", ""),
    "warning": ("warning", "", ""),
    "error": ("error", "", ""),
    "heading": ("text", "", "b"),
    "title": ("accent", "", "b"),
    "code": ("number", "", ""),
    "link": ("accent", "", "u"),
    "comment": ("dim", "", "i"),
    "keyword": ("keyword", "", ""),
    "string": ("string", "", ""),
    "number": ("number", "", ""),
    "added": ("text", "added", ""),
    "added.mark": ("good", "added", ""),
    "removed": ("text", "removed", ""),
    "removed.mark": ("error", "removed", ""),
    "added.word": ("text", "added_word", ""),
    "removed.word": ("text", "removed_word", ""),
    "selected": ("text", "raised", ""),
    "selected.dim": ("dim", "raised", ""),
    "selected.accent": ("accent", "raised", ""),
    "selected.warning": ("warning", "raised", ""),
    "selected.faint": ("dim", "raised", ""),
    "selected.good": ("good", "raised", ""),
    "selected.error": ("error", "raised", ""),
    "found": ("background", "warning", ""),
    "current": ("background", "accent", ""),
}
# what only its colour parts from the words around it, and the attribute that does it without
UNCOLOURED: Mapping[str, str] = {"code": "b"}
_ATTRIBUTES: Mapping[str, str] = {
    "b": "bold",
    "i": "italic",
    "u": "underline",
    "s": "strike",
    "r": "reverse",
}


def color(value: str) -> Color:
    return Color.parse(value.removeprefix("ansi_"))


def styles_of(palette: Palette, *, bare: bool = False) -> Callable[[str], Style]:
    """Role to style for one theme; every role and attribute combination is made once."""
    made: dict[str, Style] = {}

    def style(role: str) -> Style:
        if role.startswith("@"):  # colours of a person's own program, as it chose them
            return Style.parse(role[1:])
        found = made.get(role)
        if found is None:
            found = made[role] = _style(palette, _marked(role) if bare else role)
        return found

    return style


def _marked(role: str) -> str:
    """The role with the mark that stands for its colour, where none is seen."""
    name = role.partition(":")[0].partition("+")[0]
    if name not in UNCOLOURED:
        return role
    return role + ("" if ":" in role else ":") + UNCOLOURED[name]


def _style(palette: Palette, role: str) -> Style:
    name, _, attributes = role.partition(":")
    name, _, ground = name.partition("+")
    if name.startswith("mode."):
        front, back, own = palette.mode(name[5:]), "", ""
    else:
        front_field, back_field, own = ROLES[name]
        front = getattr(palette, front_field)
        back_field = ROLES[ground][1] if ground else back_field
        back = getattr(palette, back_field) if back_field else ""
    if palette.ansi:
        front, back, own = _for_terminal(ground or name, front, own)
    flags = {_ATTRIBUTES[letter]: True for letter in own + attributes}
    return Style(
        color=color(front) if front else None,
        bgcolor=color(back) if back else None,
        **flags,  # type: ignore[arg-type]
    )


def _for_terminal(name: str, front: str, own: str) -> tuple[str, str, str]:
    """Without background tints, diff rows carry their colour in the text, selection is reversed."""
    if name in ("added", "added.mark", "added.word"):
        return "ansi_green", "", own + ("u" if name == "added.word" else "")
    if name in ("removed", "removed.mark", "removed.word"):
        return "ansi_red", "", own + ("u" if name == "removed.word" else "")
    if name in ("found", "current"):
        return "ansi_default", "", own + "r"
    if name.startswith("selected"):
        return front, "", own + ("b" if name == "selected" else "")
    return front, "", own


def textual_theme(palette: Palette) -> Theme:
    """The same table for style sheets; our variables start with `gw-`."""
    from textual.theme import Theme  # noqa: PLC0415  lazy: the table itself serves line renderers

    fields = ("background", "surface", "raised", "text", "dim", "faint", "accent", "warning")
    variables = {f"gw-{name}": getattr(palette, name) for name in fields}
    variables["gw-error"] = palette.error
    variables["input-cursor-background"] = palette.text
    variables["input-cursor-foreground"] = palette.background
    variables["input-selection-background"] = palette.raised
    if palette.ansi:
        variables["ansi-background"] = "ansi_default"
        variables["ansi-foreground"] = "ansi_default"
    return Theme(
        name=f"gatewright-{palette.name}",
        primary=palette.accent,
        secondary=palette.accent,
        accent=palette.accent,
        warning=palette.warning,
        error=palette.error,
        success=palette.good,
        foreground=palette.text,
        background=palette.background,
        surface=palette.surface,
        panel=palette.surface,
        dark=palette.dark,
        ansi=palette.ansi,
        variables=variables,
    )
