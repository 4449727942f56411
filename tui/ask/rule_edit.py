"""A rule being changed before it is kept: what stands in it, the cursor, what was found of it.

Nothing is given whose weighing is not on the screen, or that was found not to settle the call.
"""

from __future__ import annotations

from typing import get_args

from gatewright.tools.interact import Always, Answer, Place, Weighed
from gatewright.tui.ask.form import Pressed

MOVES = {"tab": 1, "shift+tab": -1}
STEPS = {"up": 1, "down": -1, "ctrl+p": 1, "ctrl+n": -1}  # wider, narrower
PLACES: tuple[Place, ...] = get_args(Place)
LONGEST = 1_000
ENDS = {"home": 0, "ctrl+a": 0, "end": LONGEST, "ctrl+e": LONGEST}
PAGES = {"pageup": -1, "pagedown": 1}


class RuleEdit:
    """`texts` are the rules as they stand; behind the last of them is the place."""

    def __init__(self, always: Always) -> None:
        self.always = always
        self.texts = list(always.rules)
        self.at = 0
        self.cursor = len(self.texts[0])
        self.place: Place = ""
        self.open = False  # whether the keys are its own
        self.weighed: Weighed | None = None  # of exactly these texts
        self.sure = False  # that what runs any code is meant
        self.top = 0  # the first row of what is told
        self.most = 0  # rows it took so far: nothing jumps while somebody types

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(text.strip() for text in self.texts)

    @property
    def wide(self) -> bool:
        return self.weighed is not None and any(each.wide for each in self.weighed.rules)

    @property
    def stands(self) -> bool:
        """Whether Enter keeps it."""
        return self.weighed is not None and not self.weighed.problem

    def take(self, rules: tuple[str, ...], weighed: Weighed) -> None:
        """What was found of these rules; of others than stand here it says nothing."""
        if rules == self.rules:
            self.weighed = weighed

    def answer(self) -> Answer:
        return Answer(("always",), rules=self.rules, place=self.place)

    def press(self, key: str, character: str) -> Pressed:
        """What came of it; an empty text where the key is none of the edit's."""
        if key in MOVES:
            self._go((self.at + MOVES[key]) % (len(self.texts) + 1))
        elif key in PAGES:
            self.top += PAGES[key] * 2
        elif key == "escape":
            return "back"
        elif key == "enter":
            return self._entered()
        elif self.at == len(self.texts):
            return self._placed(key, character)
        elif key in STEPS:
            self._step(STEPS[key])
        else:
            return self._typed(key, character)
        return "used"

    def paste(self, text: str) -> None:
        if self.at < len(self.texts):
            self._insert(" ".join(text.split("\n")))

    def _entered(self) -> Pressed:
        if not self.stands:
            return "used"
        if self.wide and not self.sure:
            self.sure = True
            return "used"
        return "give"

    def _go(self, at: int) -> None:
        self.at, self.top = at, 0
        if at < len(self.texts):
            self.cursor = len(self.texts[at])

    def _placed(self, key: str, character: str) -> Pressed:
        delta = {"left": -1, "up": -1, "right": 1, "down": 1, "space": 1}.get(key, 0)
        self.place = PLACES[(PLACES.index(self.place) + delta) % len(PLACES)]
        return "used" if delta or character else ""

    def _step(self, delta: int) -> None:
        """The next wider or narrower one; from a text of the person's own, back to the first."""
        steps, text = self.always.steps[self.at], self.texts[self.at].strip()
        if text not in steps:
            self._put(self.always.rules[self.at])
        else:
            self._put(steps[max(0, min(steps.index(text) + delta, len(steps) - 1))])

    def _put(self, text: str, cursor: int | None = None) -> None:
        if text != self.texts[self.at]:
            self.texts[self.at] = text[:LONGEST]
            self.weighed, self.sure, self.top = None, False, 0
        self.cursor = min(len(self.texts[self.at]) if cursor is None else cursor, len(text))

    def _insert(self, text: str) -> None:
        old, shown = self.texts[self.at], "".join(c for c in text if c.isprintable())
        room = max(0, LONGEST - len(old))
        self._put(
            old[: self.cursor] + shown[:room] + old[self.cursor :],
            self.cursor + len(shown[:room]),
        )

    def _typed(self, key: str, character: str) -> Pressed:
        text, here = self.texts[self.at], self.cursor
        if key in ENDS:
            self.cursor = min(ENDS[key], len(text))
        elif key in ("left", "right"):
            self.cursor = max(0, min(here + (1 if key == "right" else -1), len(text)))
        elif key == "backspace":
            self._put(text[: max(0, here - 1)] + text[here:], max(0, here - 1))
        elif key == "delete":
            self._put(text[:here] + text[here + 1 :], here)
        elif key == "ctrl+u":
            self._put(text[here:], 0)
        elif key == "ctrl+k":
            self._put(text[:here], here)
        elif key == "ctrl+w":
            head = text[:here].rstrip()
            start = max(head.rfind(each) for each in " (:") + 1
            self._put(text[:start] + text[here:], start)
        elif character and character.isprintable():
            self._insert(character)
        else:
            return "used" if character else ""
        return "used"
