"""A masked field, inline above the prompt: for a key or a password.

What is typed lives here alone until Enter, and goes nowhere but to who asked for it: no history,
no undo, no kill ring, no screen.
"""

from __future__ import annotations

from textual import events
from textual.message import Message

from gatewright.agent.commands.outcome import Secret
from gatewright.tui.line import BLANK, Line, Span, indent, line, wrap
from gatewright.tui.panels.sheet import foot
from gatewright.tui.picker import LOW
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.style.look import Look

SHOWN = 24  # dots at most: the length of a key is nobody's business
LIMIT = 8192


class SecretField(Rows, can_focus=True):
    """Asks for one `Secret` at a time; invisible without one."""

    BACK = "surface"

    class Given(Message):
        """Carries who takes it and what was typed; shown by nobody."""

        def __init__(self, asked: Secret, text: str) -> None:
            super().__init__()
            self.asked = asked
            self.text = text

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self._asked: Secret | None = None
        self._typed = ""

    @property
    def open(self) -> bool:
        return self._asked is not None

    def show(self, asked: Secret) -> None:
        self._asked, self._typed = asked, ""
        self.refresh_rows()
        self.focus()

    def close(self) -> None:
        if self._asked is not None:
            self._asked, self._typed = None, ""
            self.refresh_rows()
            self.post_message(self.Closed())

    def on_key(self, event: events.Key) -> None:
        if self._asked is None:
            return
        event.stop()
        event.prevent_default()
        character = event.character or ""
        match event.key:
            case "escape" | "ctrl+c":
                self.close()
            case "enter":
                self._give(self._asked)
            case "backspace":
                self._put(self._typed[:-1])
            case "ctrl+u":
                self._put("")
            case _ if character.isprintable():
                self._put(self._typed + character)
            case _:
                return

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        if self._asked is not None:
            self._put(self._typed + event.text.strip())

    def _give(self, asked: Secret) -> None:
        typed = self._typed
        if typed:
            self.close()
            self.post_message(self.Given(asked, typed))

    def _put(self, text: str) -> None:
        self._typed = text[:LIMIT]
        self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        asked = self._asked
        if asked is None:
            return []
        inner = width - 2
        gap = [] if self.screen.size.height < LOW else [BLANK]
        rows = [line(Span(one_line(asked.title), "text:b")), *gap]
        for text in asked.about:
            rows += wrap((Span(one_line(text), "dim"),), inner)
        if asked.about:
            rows += gap
        dots = "\u2022" * min(len(self._typed), SHOWN, inner - 2)
        typed = Span(dots) if dots else Span("type or paste it; it is not shown", "faint")
        rows.append(line(Span("\u276f ", "accent"), typed))
        more = ("ctrl+u empties",) if gap else ()
        rows += [*gap, *foot(("enter stores", *more, "esc closes"), inner)]
        bar = Span("\u258e ", "accent")
        return indent(rows, bar, bar)
