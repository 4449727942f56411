"""Attention outside the screen: window title, bell, desktop notifications.

The sequences are made here and nowhere else; the text in them can end no sequence and start none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from gatewright.agent.text.terminal_sequence import allowed
from gatewright.tui import cells
from gatewright.tui.sanitize import one_line

MAX_TITLE = 80
MAX_BODY = 200
MAX_READ = 2000  # characters looked at: the rest would be cut anyway
NINE = ("iTerm.app", "WezTerm", "ghostty", "vscode")  # programs that understand OSC 9
NINE_TERMS = ("xterm-kitty", "xterm-ghostty")
WAIT = 6.0  # seconds a question may wait before it calls


class Ways(NamedTuple):
    """Which sequences are written; `wrapped` hides them from the tmux in between."""

    bell: bool = True
    nine: bool = True
    seven: bool = True
    wrapped: bool = False


EVERY = Ways()


def safe(text: str, limit: int) -> str:
    """One visible line without anything a terminal could take as the end of the sequence."""
    return cells.fit(one_line(text[:MAX_READ], strict=True).replace(";", ","), limit)


def title_sequence(text: str) -> str:
    """Sets the window's title."""
    return f"\x1b]0;{safe(text, MAX_TITLE)}\x07"


def notification_sequence(title: str, body: str, ways: Ways = EVERY) -> str:
    """A bell, and the notifications that terminals understand (others ignore them)."""
    what, why = safe(title, MAX_TITLE), safe(body, MAX_BODY)
    shown = f"\x1b]9;{what}: {why}\x07" if ways.nine else ""
    shown += f"\x1b]777;notify;{what};{why}\x07" if ways.seven else ""
    if shown and ways.wrapped:  # for the terminal around tmux, where that lets it through
        shown = "\x1bPtmux;" + shown.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return ("\x07" if ways.bell else "") + shown


def ways_in(env: Mapping[str, str], chosen: bool | str = True) -> Ways:
    """How to call a person in this terminal: one that knows both kinds would show both."""
    bell, desktop = chosen in (True, "bell"), chosen in (True, "desktop")
    term, program = env.get("TERM", ""), env.get("TERM_PROGRAM", "")
    if program in NINE or env.keys() & {"TMUX", "KITTY_WINDOW_ID"} or term.startswith(NINE_TERMS):
        nine, seven = True, False
    elif "VTE_VERSION" in env or term.startswith(("rxvt", "foot")):
        nine, seven = False, True
    else:
        nine, seven = True, True
    return Ways(bell, desktop and nine, desktop and seven, "TMUX" in env)


class Attention:
    """Decides when to call the person; writes through the port it is given."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._write = write
        self._clock = clock
        self._title = ""
        self._asked: tuple[int, float] | None = None
        self._called = -1  # the last question it called for
        self.ways = EVERY
        self.focused = True
        self.muted = False

    def name(self, title: str) -> None:
        """Set the window's title, once for each change."""
        if title != self._title:
            self._title = title
            self._write(title_sequence(title))

    def asked(self, ask: int | None) -> None:
        """A question is on the screen (or none any more)."""
        if ask is None or ask == self._called:
            self._asked = None
        elif self._asked is None or self._asked[0] != ask:
            self._asked = (ask, self._clock())

    def check(self, title: str) -> bool:
        """Call when a question has waited; True while there is one to look at again."""
        if self._asked is None:
            return False
        if self._clock() - self._asked[1] < WAIT:
            return True
        self._called, self._asked = self._asked[0], None
        self._call(f"waits for you: {title}")
        return False

    def say(self, sequence: str) -> None:
        """What a hook has for the terminal; nothing but titles, notifications and bells."""
        if allowed(sequence):
            self._write(sequence)

    def ended(self, message: str) -> None:
        """A turn ended: tell it when nobody looks."""
        if not self.focused:
            self._call(message)

    def _call(self, message: str) -> None:
        if not self.muted:
            self._write(notification_sequence("agent", message, self.ways))
