"""Every colour of the screen, by meaning: one table per theme, nothing else names a colour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.color import Color
from rich.style import Style

if TYPE_CHECKING:
    from textual.theme import Theme


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
    keyword: str
    string: str
    number: str
    modes: Mapping[str, str] = field(default_factory=dict[str, str])
    ansi: bool = False
    flat: bool = False  # surfaces look like the background: lines part them

    def mode(self, name: str) -> str:
        return self.modes.get(name, self.dim)


def _modes(calm: str, edits: str, plan: str, danger: str, strict: str) -> dict[str, str]:
    return {
        "default": calm,
        "acceptEdits": edits,
        "plan": plan,
        "auto": edits,
        "autoInProject": edits,
        "work": edits,
        "bypassPermissions": danger,
        "fullAccess": danger,
        "dontAsk": strict,
        "delegate": plan,
    }


DARK = Palette(
    name="dark",
    summary="Soft contrast on near black",
    dark=True,
    background="#101216",
    surface="#191c22",
    raised="#252a33",
    text="#d5d9e0",
    dim="#868e9c",
    faint="#606978",
    accent="#7aa7f0",
    good="#84bf8a",
    warning="#dfb26a",
    error="#e57f7f",
    added="#16281d",
    removed="#301b1f",
    keyword="#a5b7dc",
    string="#9cc3a0",
    number="#d0ae86",
    modes=_modes("#868e9c", "#84bf8a", "#7aa7f0", "#e57f7f", "#dfb26a"),
)
LIGHT = Palette(
    name="light",
    summary="Ink on paper",
    dark=False,
    background="#fbfbf9",
    surface="#f0f0ed",
    raised="#e2e3e0",
    text="#24292f",
    dim="#626a75",
    faint="#8f969f",
    accent="#2459b8",
    good="#2a7038",
    warning="#8c5a06",
    error="#b3282d",
    added="#dff2e1",
    removed="#fbe3e2",
    keyword="#4a5a8a",
    string="#2f6b3c",
    number="#86550f",
    modes=_modes("#626a75", "#2a7038", "#2459b8", "#b3282d", "#8c5a06"),
)
MINIMAL = Palette(
    name="minimal",
    summary="Greys, and red where it matters",
    dark=True,
    background="#0e0e0e",
    surface="#171717",
    raised="#262626",
    text="#cfcfcf",
    dim="#858585",
    faint="#626262",
    accent="#ffffff",
    good="#cfcfcf",
    warning="#ffffff",
    error="#e88a8a",
    added="#202020",
    removed="#2a1a1a",
    keyword="#ffffff",
    string="#a8a8a8",
    number="#cfcfcf",
    modes=_modes("#858585", "#cfcfcf", "#ffffff", "#e88a8a", "#ffffff"),
)
HIGH_CONTRAST = Palette(
    name="high-contrast",
    summary="At least 7 to 1 everywhere",
    dark=True,
    background="#000000",
    surface="#000000",
    raised="#2b2b2b",
    text="#ffffff",
    dim="#c8c8c8",
    faint="#9a9a9a",
    accent="#6fc3ff",
    good="#5ee86b",
    warning="#ffd42e",
    error="#ff8f8f",
    added="#003a10",
    removed="#4d0000",
    keyword="#9fd4ff",
    string="#8ff29a",
    number="#ffd88a",
    modes=_modes("#ffffff", "#5ee86b", "#6fc3ff", "#ff8f8f", "#ffd42e"),
    flat=True,
)
COLOUR_BLIND = Palette(
    name="colour-blind",
    summary="Blue and orange instead of green and red",
    dark=True,
    background="#101216",
    surface="#191c22",
    raised="#252a33",
    text="#d9dce2",
    dim="#8b93a1",
    faint="#616a79",
    accent="#c9b3f0",
    good="#64b5f6",
    warning="#f0e06c",
    error="#f29a4a",
    added="#12263f",
    removed="#3a2410",
    keyword="#b7c4de",
    string="#8fc1ea",
    number="#e8c07a",
    modes=_modes("#8b93a1", "#64b5f6", "#c9b3f0", "#f29a4a", "#f0e06c"),
)
ANSI = Palette(
    name="ansi",
    summary="The terminal's own sixteen colours",
    dark=True,
    background="ansi_default",
    surface="ansi_default",
    raised="ansi_default",
    text="ansi_default",
    dim="ansi_bright_black",
    faint="ansi_bright_black",
    accent="ansi_blue",
    good="ansi_green",
    warning="ansi_yellow",
    error="ansi_red",
    added="ansi_default",
    removed="ansi_default",
    keyword="ansi_cyan",
    string="ansi_green",
    number="ansi_yellow",
    modes=_modes("ansi_bright_black", "ansi_green", "ansi_blue", "ansi_red", "ansi_yellow"),
    ansi=True,
    flat=True,
)

PALETTES: Mapping[str, Palette] = {
    p.name: p for p in (DARK, LIGHT, MINIMAL, HIGH_CONTRAST, COLOUR_BLIND, ANSI)
}
DEFAULT = DARK.name

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
    "selected": ("text", "raised", ""),
    "selected.dim": ("dim", "raised", ""),
    "selected.accent": ("accent", "raised", ""),
    "selected.warning": ("warning", "raised", ""),
    "found": ("background", "warning", ""),
    "current": ("background", "accent", ""),
}
_ATTRIBUTES: Mapping[str, str] = {
    "b": "bold",
    "i": "italic",
    "u": "underline",
    "s": "strike",
    "r": "reverse",
}


def color(value: str) -> Color:
    return Color.parse(value.removeprefix("ansi_"))


def styles_of(palette: Palette) -> Callable[[str], Style]:
    """Role to style for one theme; every role and attribute combination is made once."""
    made: dict[str, Style] = {}

    def style(role: str) -> Style:
        if role.startswith("@"):  # colours of a person's own program, as it chose them
            return Style.parse(role[1:])
        found = made.get(role)
        if found is None:
            found = made[role] = _style(palette, role)
        return found

    return style


def _style(palette: Palette, role: str) -> Style:
    name, _, attributes = role.partition(":")
    if name.startswith("mode."):
        front, back, own = palette.mode(name[5:]), "", ""
    else:
        front_field, back_field, own = ROLES[name]
        front = getattr(palette, front_field)
        back = getattr(palette, back_field) if back_field else ""
    if palette.ansi:
        front, back, own = _for_terminal(name, front, own)
    flags = {_ATTRIBUTES[letter]: True for letter in own + attributes}
    return Style(
        color=color(front) if front else None,
        bgcolor=color(back) if back else None,
        **flags,  # type: ignore[arg-type]
    )


def _for_terminal(name: str, front: str, own: str) -> tuple[str, str, str]:
    """Without background tints, diff rows carry their colour in the text, selection is reversed."""
    if name in ("added", "added.mark"):
        return "ansi_green", "", own
    if name in ("removed", "removed.mark"):
        return "ansi_red", "", own
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
