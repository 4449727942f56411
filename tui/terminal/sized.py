"""An app whose size is the terminal's, whichever of two messages about it comes last.

The framework reads the size and then sends it. A signal in between sends the newer one first, and
the older one would be believed until the next change: the screen stays painted for another width.
"""

from __future__ import annotations

from textual.app import App
from textual.driver import Driver
from textual.events import Resize

from gatewright.tui.terminal.terminal import ScreenDriver


class Sized(App[int], inherit_bindings=False):
    async def _on_resize(self, event: Resize) -> None:
        """As it is now; a later change sends a message of its own."""
        event.prevent_default()
        await super()._on_resize(as_it_is(self._driver, event))


def as_it_is(driver: Driver | None, event: Resize) -> Resize:
    """Another one: what is done with this one by default was prevented."""
    size = driver.size_now(event.size) if isinstance(driver, ScreenDriver) else event.size
    return Resize(size, size, pixel_size=event.pixel_size)
