"""A line to type in the panel of workflows, and the question where a script is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from gatewright.agent.commands.panels import Keeping
from gatewright.agent.errors import GatewrightError
from gatewright.tui.cells import fit_middle
from gatewright.tui.line import BLANK, Line, Span, line, wrap
from gatewright.tui.panels.sheet import LOW, Press, Sheet
from gatewright.tui.sanitize import one_line, visible
from gatewright.tui.transcript.greeting import shortened

LIMIT = 4_000
PLACES = ("project", "user")


class Typing:
    """Enter gives what was typed; what came of it is told by the panel."""

    def __init__(self, sheet: Sheet, title: str, take: Callable[[str], Awaitable[str]]) -> None:
        self._sheet, self._title, self._take = sheet, title, take
        self._text = ""

    @property
    def keys(self) -> Sequence[str]:
        return ("enter sends", "ctrl+u empties")

    def press(self, press: Press) -> bool:
        key, character, settled = press
        if key == "enter":
            if settled and self._text.strip():
                self._sheet.work(self._taken)
        elif key == "backspace":
            self._text = self._text[:-1]
        elif key == "ctrl+u":
            self._text = ""
        elif character and character.isprintable():
            self._text = (self._text + character)[:LIMIT]
        return True

    def paste(self, text: str) -> None:
        self._text = (self._text + text)[:LIMIT]

    async def _taken(self) -> None:
        told = await self._take(self._text.strip())
        self._sheet.back()
        self._sheet.tell(told)

    def lines(self, width: int, height: int) -> list[Line]:
        gap = [] if height < LOW - 2 else [BLANK]
        typed = (Span("\u276f ", "accent"), Span(visible(self._text)), Span("\u258f", "accent"))
        room = max(1, height - 1 - len(gap))
        return [line(Span(self._title, "text:b")), *gap, *wrap(typed, width)[-room:]]


class Saving:
    """Tab says where; to replace what is there takes a second Enter."""

    def __init__(self, sheet: Sheet, keeping: Keeping, run: str) -> None:
        self._sheet, self._keeping, self._run = sheet, keeping, run
        self._at = 0
        self._replaces = False

    @property
    def keys(self) -> Sequence[str]:
        enter = "enter replaces it" if self._replaces else "enter saves"
        return (enter, f"tab {PLACES[1 - self._at]}")

    def press(self, press: Press) -> bool:
        if press.key in ("tab", "shift+tab"):
            self._at, self._replaces = 1 - self._at, False
        elif press.key == "enter":
            if press.settled:
                self._sheet.work(self._save)
        elif press.key == "left":
            self._sheet.back()
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        """Nothing is typed here."""

    async def _save(self) -> None:
        where = PLACES[self._at]
        try:
            told = await self._keeping.save(self._run, where, replace=self._replaces)
        except FileExistsError:
            self._replaces = True
            self._sheet.tell("There is one already: enter again replaces it.", "warning")
            return
        except GatewrightError as error:
            self._sheet.tell(str(error), "warning")
            return
        self._sheet.back()
        self._sheet.tell(told)

    def lines(self, width: int, height: int) -> list[Line]:
        """The name of the file is seen, however long the way to it is."""
        del height
        rows = [line(Span("Save this script as a workflow", "text:b"))]
        for number, where in enumerate(PLACES):
            here = number == self._at
            path = one_line(shortened(Path(self._keeping.place(self._run, where))))
            mark = "\u25b8 " if here else "  "
            called = f"{where:<{len(PLACES[0])}}  "
            shown = fit_middle(path, width - len(mark + called))
            rows.append(
                line(
                    Span(mark, "accent"),
                    Span(called, "text" if here else "dim"),
                    Span(shown, "dim"),
                )
            )
        return rows
