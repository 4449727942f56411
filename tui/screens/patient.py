"""A screen that paints only once the terminal has taken what was painted before.

What changed meanwhile is painted together: a slow line sees less, and nothing later than it must.
"""

from __future__ import annotations

from textual.screen import Screen

from gatewright.tui.terminal import ScreenDriver


class Patient(Screen[None]):
    _held = False  # what changed waits to be painted

    @property
    def _behind(self) -> bool:
        driver = self.app._driver  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
        return isinstance(driver, ScreenDriver) and driver.behind

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
