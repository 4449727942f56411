"""Two messages about the terminal's size may come in the wrong order: the terminal is right."""

from __future__ import annotations

import pytest
from textual.driver import Driver
from textual.events import Resize
from textual.geometry import Size

from gatewright.tui.terminal import sized
from gatewright.tui.terminal.sized import Sized, as_it_is
from gatewright.tui.terminal.terminal import ScreenDriver
from tests.fakes.waiting import eventually

OLD, NEW = Size(100, 30), Size(44, 23)


class Told(ScreenDriver):
    """Says what a terminal of the new size says, and has none."""

    def __init__(self, *, itself: bool) -> None:
        self._in_band_window_resize = itself

    def _get_terminal_size(self) -> tuple[int, int]:
        return NEW


@pytest.mark.parametrize(
    ("driver", "size"), [(Told(itself=False), NEW), (Told(itself=True), OLD), (None, OLD)]
)
def test_an_older_size_that_comes_last_is_not_believed(driver: Driver | None, size: Size) -> None:
    """But for a terminal that says itself how large it is."""
    assert as_it_is(driver, Resize(OLD, OLD)).size == size


async def test_the_screen_gets_what_the_terminal_says(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Sized()
    async with app.run_test(size=OLD):
        app.post_message(Resize(NEW, NEW))  # pyright: ignore[reportUnknownMemberType]
        await eventually(lambda: app.screen.size == NEW)  # pyright: ignore[reportUnknownMemberType]
        monkeypatch.setattr(sized, "as_it_is", lambda *_: Resize(OLD, OLD))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        app.post_message(Resize(NEW, Size(1, 1)))  # pyright: ignore[reportUnknownMemberType]
        await eventually(lambda: app.screen.size == OLD)  # pyright: ignore[reportUnknownMemberType]
