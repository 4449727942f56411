"""The theme in force: the one that the person chose, or "auto", which is what the terminal is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from textual.app import App

from gatewright.tui.style.look import Look
from gatewright.tui.style.palette_file import OwnThemes
from gatewright.tui.style.theme import ANSI, Palette, textual_theme

AUTO = "auto"
DARK, LIGHT = "dark", "light"
SUMMARY = "Dark or light, as your terminal is"


class Themed:
    """Keeps the look, the framework and the person's choice at one."""

    def __init__(self, app: App[Any], chosen: str, own: Mapping[str, Palette] | None) -> None:
        self._app = app
        self._light = False
        self.chosen = ANSI.name if app.no_color else chosen
        self.look = Look(self._meant(self.chosen), own, bare=app.no_color)
        self.own: OwnThemes | None = None
        self.repaint: Callable[[], None] = lambda: None
        self.ask: Callable[[], None] = lambda: None
        for palette in self.look.palettes.values():
            app.register_theme(textual_theme(palette))
        app.theme = f"gatewright-{self.look.palette.name}"

    def _meant(self, name: str) -> str:
        if name != AUTO:
            return name
        return LIGHT if self._light else DARK

    @property
    def offered(self) -> Sequence[tuple[str, str]]:
        """The names that may be chosen, and what each is."""
        return [(AUTO, SUMMARY), *((p.name, p.summary) for p in self.look.palettes.values())]

    def knows(self, name: str) -> bool:
        return name == AUTO or name in self.look.palettes

    def told(self, *, light: bool) -> None:
        """The terminal said what it is; whoever chose a theme keeps it."""
        self._light = light
        if self.chosen == AUTO:
            self._show(self._meant(AUTO))

    def use(self, name: str, *, keep: bool) -> None:
        self.chosen = name
        if name == AUTO:
            self.ask()
        self._show(self._meant(name))
        if keep and self.own is not None:
            self.own.keep(name)

    def _show(self, name: str) -> None:
        if name != self.look.palette.name:
            self.look.use(name)
            self._app.register_theme(textual_theme(self.look.palette))
            self._app.theme = f"gatewright-{name}"
            self.repaint()
