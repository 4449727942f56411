"""What keys mean while a question stands, beside the letters of its options."""

from __future__ import annotations

from typing import NamedTuple

from textual.timer import Timer

UNCLEAR = "choose with the arrows, then enter"
AGAIN = "it was too early to be an answer: once more gives it"
UNMARKED = "nothing is marked: space or its number marks one"
LATER = "answer first, then enter runs it"
LARGER = "make the window larger to read it"
FIRST = "PgDn shows the danger first"
STORES = "once more gives it"
READS, CHANGES = -1, -2  # the numbers of keys that answer nothing
SETTLE = 0.02  # seconds for keys that arrived while the screen was busy
WHEEL = 3  # rows
STEPS = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "tab": 1}
SCROLLS = {"shift+up": -1, "shift+down": 1}
PAGES = {"pageup": -1, "pagedown": 1}
PASSED = frozenset({"shift+tab", "ctrl+home", "ctrl+end"})  # they mean here what they always do
COMMANDS = "/!#"  # a draft that begins so is for nobody but the prompt
EDITS = frozenset({"backspace", "ctrl+u", "ctrl+w"})  # of the draft


class Held(NamedTuple):
    """An answer that waits whether its key was the beginning of a word."""

    character: str
    number: int
    timer: Timer


def is_command(key: str) -> bool:
    """Whether a key means something to the program rather than to a text."""
    return key.startswith(("ctrl+", "alt+")) or (key[:1] == "f" and key[1:].isdigit())
