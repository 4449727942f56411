"""The word of the draft that asks for a workflow: shown as such, and dropped where it is not meant.

Dropped it is for one message: what is typed next begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.style import Style
from rich.text import Text
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.widgets import TextArea

from gatewright.agent.text.ultracode import spans, without


class Keyword:
    """`wanted` is the setting, `there` says whether there are workflows."""

    def __init__(self) -> None:
        self.wanted = True
        self.there: Callable[[], bool] = lambda: False
        self.style: Callable[[], Style] = lambda: Style(bold=True)  # the theme's
        self._dropped = False

    @property
    def on(self) -> bool:
        return self.wanted and self.there()

    def saw(self, text: str) -> bool:
        """The draft changed; whether it looks otherwise by that."""
        if not text.strip():
            self._dropped = False
        return self.on and not self._dropped

    def drop(self, text: str) -> bool:
        """It is not meant this time; False where nothing is dropped by that."""
        if not self.on or self._dropped or next(spans(text), None) is None:
            return False
        self._dropped = True
        return True

    def ends(self, before: str, text: str) -> bool:
        """Whether one that counts ends where `before` does."""
        counts = self.on and not self._dropped
        return counts and any(end == len(before) for _, end in spans(text))

    def in_line(self, lines: Sequence[str], row: int) -> Sequence[tuple[int, int]]:
        """Where it stands in one line of the draft, as far as it counts."""
        if not self.on or self._dropped:
            return ()
        begin = sum(len(line) + 1 for line in lines[:row])
        end = begin + len(lines[row])
        found = spans("\n".join(lines))
        return [(at - begin, to - begin) for at, to in found if begin <= at and to <= end]

    def typed(self, text: str) -> str:
        """What of it the person means as words of theirs."""
        return without(text) if self._dropped else text


class KeywordArea(TextArea):
    """A text area in which the word is seen to count."""

    BINDINGS = [("alt+w", "drop_keyword", "")]

    def __init__(self, *args: Any, **more: Any) -> None:
        self.keyword = Keyword()
        super().__init__(*args, **more)

    def action_drop_keyword(self) -> None:
        self.drop_keyword()

    def drop_keyword(self) -> bool:
        """The word stays, and is a word like any other in this message."""
        dropped = self.keyword.drop(self.text)
        if dropped:
            self._redrawn()
            self.refresh()
        return dropped

    def _redrawn(self) -> None:
        """Its lines look another way now."""
        self.notify_style_update()

    def behind_keyword(self) -> bool:
        """Backspace right behind it drops it too; False where it only deletes."""
        if self.selected_text:
            return False
        before = self.get_text_range((0, 0), self.cursor_location)
        return self.keyword.ends(before, self.text) and self.drop_keyword()

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for start, end in self.keyword.in_line(self.document.lines, line_index):
            line.stylize(self.keyword.style(), start, end)
        return line

    def edit(self, edit: Edit) -> EditResult:
        done = super().edit(edit)
        if self.keyword.saw(self.text):
            self._redrawn()  # a fence above makes another line code
        return done
