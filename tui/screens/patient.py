"""A screen that paints only once the terminal has taken what was painted before.

What changed meanwhile is painted together: a slow line sees less, and nothing later than it must.
"""

from __future__ import annotations

from textual.screen import Screen

from gatewright.tui.terminal import ScreenDriver


class Patient(Screen[None]):
    def _on_timer_update(self) -> None:
        driver = self.app._driver  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
        if isinstance(driver, ScreenDriver) and driver.behind:
            return  # the timer goes on until it may
        super()._on_timer_update()
