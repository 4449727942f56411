"""Vim's normal mode as a state machine over text and offset; inserting is left to the editor.

`press` is called for each key of normal mode and answers what text and cursor become.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gatewright.tui.prompt.vim.motions import (
    INCLUSIVE,
    LINEWISE,
    MOTIONS,
    find,
    first_letter,
    left,
    line_end,
    line_start,
)

MAX_COUNT = 999


@dataclass(frozen=True)
class Edit:
    """The text, the cursor, and whether typing inserts from now on."""

    text: str
    at: int
    inserting: bool = False
    undo: bool = False


@dataclass(frozen=True)
class Machine:
    """What was typed of an unfinished command, and what was cut last."""

    count: str = ""
    operator: str = ""
    prefix: str = ""  # g, r, f, F, t or T, waiting for its character
    register: str = ""

    def press(  # noqa: PLR0911  one return for each kind of key
        self, key: str, text: str, at: int
    ) -> tuple[Machine, Edit]:
        here = Edit(text, at)
        if self.prefix:
            return self._prefixed(key, here)
        if key.isdigit() and (key != "0" or self.count):
            return replace(self, count=(self.count + key)[:3]), here
        if key in "grfFtT":
            return replace(self, prefix=key), here
        if key in "dcy":
            if self.operator == key:
                return self._lines(key, here)
            if not self.operator:
                return replace(self, operator=key), here
            return self._done(), here
        if key in MOTIONS:
            return self._moved(key, here)
        if self.operator:
            return self._done(), here
        return self._plain(key, here)

    def _times(self) -> int:
        return min(int(self.count or "1"), MAX_COUNT)

    def _done(self, register: str | None = None) -> Machine:
        return Machine(register=self.register if register is None else register)

    def _prefixed(self, key: str, here: Edit) -> tuple[Machine, Edit]:
        text, at = here.text, here.at
        if self.prefix == "g":
            target = 0 if key == "g" else at
            return self._to(target, here, linewise=True)
        if self.prefix == "r":
            if at < line_end(text, at) and len(key) == 1:
                return self._done(), Edit(text[:at] + key + text[at + 1 :], at)
            return self._done(), here
        target = at
        for _ in range(self._times()):
            target = find(text, target, self.prefix, key)
        inclusive = self.prefix in INCLUSIVE and target != at
        return self._to(target, here, inclusive=inclusive)

    def _moved(self, key: str, here: Edit) -> tuple[Machine, Edit]:
        target = here.at
        # `cw` changes to the end of the word, as everybody expects
        name = "e" if key == "w" and self.operator == "c" else key
        for _ in range(self._times()):
            target = MOTIONS[name](here.text, target)
        return self._to(target, here, inclusive=name in INCLUSIVE, linewise=key in LINEWISE)

    def _to(
        self, target: int, here: Edit, *, inclusive: bool = False, linewise: bool = False
    ) -> tuple[Machine, Edit]:
        """Move there, or do the pending operator up to there."""
        text, at = here.text, here.at
        if not self.operator:
            return self._done(), Edit(text, target)
        start, end = sorted((at, target))
        if linewise:
            start, end = line_start(text, start), min(line_end(text, end) + 1, len(text))
        elif inclusive:
            end = min(end + 1, len(text))
        return self._operated(start, end, here)

    def _operated(self, start: int, end: int, here: Edit) -> tuple[Machine, Edit]:
        text, cut = here.text, here.text[start:end]
        if self.operator == "y":
            return self._done(cut), Edit(text, start)
        changed = self.operator == "c"
        return self._done(cut), Edit(text[:start] + text[end:], start, inserting=changed)

    def _lines(self, key: str, here: Edit) -> tuple[Machine, Edit]:
        """`dd`, `cc` and `yy`, with a count."""
        text = here.text
        start = line_start(text, here.at)
        end = start
        for _ in range(self._times()):
            end = min(line_end(text, end) + 1, len(text))
        if key == "c":
            end = line_end(text, max(start, end - 1)) if end > start else end
        cut = text[start:end]
        register = cut if cut.endswith("\n") or key == "c" else cut + "\n"
        if key == "y":
            return self._done(register), here
        left_over = text[:start] + text[end:]
        if key == "d" and end == len(text) and not cut.endswith("\n"):
            left_over = left_over.removesuffix("\n")
        at = min(start, line_start(left_over, len(left_over)))
        return self._done(register), Edit(left_over, at, inserting=key == "c")

    def _plain(self, key: str, here: Edit) -> tuple[Machine, Edit]:
        text, at = here.text, here.at
        match key:
            case "i":
                return self._done(), replace(here, inserting=True)
            case "a":
                return self._done(), Edit(text, min(line_end(text, at), at + 1), inserting=True)
            case "I":
                return self._done(), Edit(text, first_letter(text, at), inserting=True)
            case "A":
                return self._done(), Edit(text, line_end(text, at), inserting=True)
            case "o" | "O":
                place = line_end(text, at) if key == "o" else line_start(text, at)
                cursor = place + 1 if key == "o" else place
                return self._done(), Edit(f"{text[:place]}\n{text[place:]}", cursor, inserting=True)
            case "u":
                return self._done(), replace(here, undo=True)
            case "p" | "P":
                return self._done(), self._put(key, here)
            case _:
                return self._short(key, here)

    def _short(self, key: str, here: Edit) -> tuple[Machine, Edit]:
        """Commands that stand for an operator and a motion."""
        text, at = here.text, here.at
        times = self._times()
        spans = {
            "x": ("d", at, min(at + times, line_end(text, at))),
            "s": ("c", at, min(at + times, line_end(text, at))),
            "X": ("d", max(line_start(text, at), at - times), at),
            "D": ("d", at, line_end(text, at)),
            "C": ("c", at, line_end(text, at)),
            "S": ("c", line_start(text, at), line_end(text, at)),
        }
        if key not in spans:
            return self._done(), here
        operator, start, end = spans[key]
        return replace(self, operator=operator)._operated(start, end, here)

    def _put(self, key: str, here: Edit) -> Edit:
        text, at, register = here.text, here.at, self.register * self._times()
        if not register:
            return here
        if self.register.endswith("\n"):
            place = line_end(text, at) if key == "p" else line_start(text, at)
            if key == "p":
                return Edit(f"{text[:place]}\n{register[:-1]}{text[place:]}", place + 1)
            return Edit(text[:place] + register + text[place:], place)
        place = min(line_end(text, at), at + 1) if key == "p" else at
        whole = text[:place] + register + text[place:]
        return Edit(whole, left(whole, place + len(register)))
