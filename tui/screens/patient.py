"""A screen that paints only once the terminal has taken what was painted before.

What changed meanwhile is painted together: a slow line sees less, and nothing later than it must.
Keys come from the moment somebody has the focus, those typed before among them.
"""

from __future__ import annotations

from textual.screen import Screen
from textual.widget import Widget

from gatewright.tui.prompt.box import Box
from gatewright.tui.terminal.terminal import ScreenDriver


class Patient(Screen[None]):
    _held = False  # what changed waits to be painted

    @property
    def _terminal(self) -> ScreenDriver | None:
        driver = self.app._driver  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
        return driver if isinstance(driver, ScreenDriver) else None

    @property
    def _behind(self) -> bool:
        return self._terminal is not None and self._terminal.behind

    def set_focus(
        self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False
    ) -> None:
        super().set_focus(widget, scroll_visible, from_app_focus)
        if self._terminal is not None and self.focused is not None:
            typed = self._terminal.listen()
            if typed is not None:  # it stands on the screen already
                self.query_one("#box", Box).begin(typed.text, typed.at, typed.last)

    def _on_timer_update(self) -> None:
        if self._behind:
            return  # the timer goes on until it may
        super()._on_timer_update()
        if self._held:
            self._compositor_refresh()

    def _compositor_refresh(self) -> None:
        self._held = self._behind
        if self._held:
            self._update_timer.resume()
        else:
            super()._compositor_refresh()
