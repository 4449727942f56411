"""A widget that shows a few styled lines, and repaints only those that changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from gatewright.tui.line import Line
from gatewright.tui.style.look import Look

T = TypeVar("T")


class Rows(Widget, can_focus=False):
    """Subclasses say what the rows are; without any the widget takes no space."""

    ALLOW_SELECT = False
    SIDE = 1
    BACK = "background"

    class Closed(Message):
        """What had the keys is gone: the prompt takes over again."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.look = look
        self._shown: list[Line] = []
        self._strips: list[Strip] = []

    @property
    def taken(self) -> int:
        """How many rows it takes."""
        return len(self._shown)

    def rows(self, width: int) -> list[Line]:
        """What to show in so many cells."""
        raise NotImplementedError

    def repaint(self) -> None:
        """The theme changed."""
        self._strips = []
        self.refresh_rows()
        self.refresh()

    def refresh_rows(self) -> None:
        """Ask for the rows again; lay out only when their number changed."""
        if not self.is_attached:  # what finished after the screen had closed has nowhere to show
            return
        width = self.size.width or self.screen.size.width
        before, count = self._strips, len(self._shown)
        self._make(width)
        self.display = bool(self._shown)
        if len(self._shown) != count:
            self.refresh(layout=True)
            return
        self._paint_changed(before, width)

    def _paint_changed(self, before: Sequence[Strip], width: int) -> None:
        """The rows that say something else than they did."""
        for y, strip in enumerate(self._strips):
            if y >= len(before) or before[y] != strip:
                self.refresh(Region(0, y, width, 1))

    def _make(self, width: int) -> None:
        self._shown = self.rows(max(8, width - 2 * self.SIDE))
        self._strips = [
            self.look.strip(row, width, self.SIDE, back=self.BACK) for row in self._shown
        ]

    def get_content_height(
        self,
        container: Size,  # noqa: ARG002  the framework's signature
        viewport: Size,  # noqa: ARG002
        width: int,
    ) -> int:
        before = self._strips
        self._make(width)
        self._paint_changed(before, width)  # a layout paints nothing where the size stays
        return len(self._shown)

    def on_mount(self) -> None:
        self.refresh_rows()

    def on_resize(self) -> None:
        self.refresh_rows()

    def render_line(self, y: int) -> Strip:
        if y < len(self._strips):
            return self._strips[y]
        return self.look.blank(self.size.width, back=self.BACK)


class Drawn(Rows, Generic[T]):
    """Rows made of one value, and made anew when that is another."""

    def __init__(
        self, look: Look, draw: Callable[[T, int], list[Line]], value: T, *, id: str | None = None
    ) -> None:
        super().__init__(look, id=id)
        self._draw = draw
        self._value = value

    def show(self, value: T) -> None:
        if value != self._value:
            self._value = value
            self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        return self._draw(self._value, width)
