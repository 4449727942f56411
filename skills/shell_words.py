"""Puts a stranger's text into a command line as part of one word, whatever quotes are around it.

A place where no quoting holds a text together (arithmetic, a here-document, what a builtin takes
for code) is found here, and nothing is put there. Pure.
"""

from __future__ import annotations

import re
import shlex
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["plain", "single", "double", "ansi", "comment", "nowhere"]

CODE = frozenset({
    "eval", "let", "declare", "typeset", "local", "readonly", "unset", "read", "trap", "mapfile",
    "readarray", "alias",
})  # fmt: skip
BEFORE = frozenset({  # a command
    "if", "then", "elif", "else", "do", "while", "until", "!", "{", "time", "command", "builtin",
    "exec", "env", "nohup",
})  # fmt: skip
_INDEX = re.compile(r"\w+\[")
_PLACES: dict[str, Place] = {"'": "single", '"': "double", "$'": "ansi"}
_IN_DOUBLE = re.compile(r"[^\"$`\\!\x00-\x08\x0b-\x1f]*")
_NAME = re.compile(r"[A-Za-z_]\w*\+?=")
_ENDS_COMMAND = frozenset(";&|\n(")
_ENDS_WORD = frozenset(" \t\n;&|()<>")


def placed(value: str, place: Place) -> str:
    """The value as it stands there; nothing of it can end the word or be more than text."""
    value = value.replace("\x00", "")
    match place:
        case "plain":
            return shlex.quote(value) if value else ""
        case "single":
            return value if "'" not in value else f"'{shlex.quote(value)}'"
        case "double":
            return value if _IN_DOUBLE.fullmatch(value) else f'"{shlex.quote(value)}"'
        case "ansi":
            return f"'{shlex.quote(value)}$'"
        case "comment" | "nowhere":
            raise ValueError(place)  # nothing is put there


class ShellPlaces:
    """Reads a command from its beginning, as far as it is asked what a place in it is like."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        # Quotes and brackets that are not closed, with the word and the command they stand in.
        self._open: list[tuple[str, str, str]] = []
        self._word = ""  # the one that is being read, as it is written
        self._first = ""  # of the command that is being read; empty before it
        self._closed = False  # nothing can be said of what follows

    def at(self, index: int) -> Place:
        """Places are asked in their order."""
        while self._at < index and not self._closed:
            self._step()
        if self._closed or self._first in CODE or _INDEX.match(self._word):
            return "nowhere"  # what is put there may be taken for code, in quotes too
        if self._at > index:
            return "comment"
        return _PLACES.get(self._inside, "plain")

    def skip(self, index: int) -> None:
        """What stands up to here is put in: it belongs to the word."""
        self._at = max(self._at, index)
        self._word += "x"

    @property
    def _inside(self) -> str:
        return self._open[-1][0] if self._open else ""

    def _step(self) -> None:
        """One thing that means something to a shell."""
        char, inside = self._text[self._at], self._inside
        two = self._text[self._at : self._at + 2]
        if inside in ("'", "$'"):
            self._quoted(char, inside)
        elif char == "\\":
            self._take(2)
        elif char == "`" or two == "${" or self._text.startswith("$((", self._at):
            self._unclear(two)
        elif two == "$(":
            self._push("(", 2)
        elif inside == '"':
            self._close('"') if char == '"' else self._take(1)
        else:
            self._bare(char, two)

    def _quoted(self, char: str, inside: str) -> None:
        if char == "'":
            self._close(inside)
        else:
            self._take(2 if char == "\\" and inside == "$'" else 1)

    def _bare(self, char: str, two: str) -> None:
        """Outside of quotes."""
        if two in ("((", "<<", "[["):
            self._unclear(two)
        elif two == "$'":
            self._push("$'", 2)
        elif char in "'\"":
            self._push(char, 1)
        elif char == "#" and not self._word:
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end
        else:
            self._plain(char)

    def _unclear(self, two: str) -> None:
        """`${name}` alone is a word like any other; the rest nobody can put a text into."""
        end = self._text.find("}", self._at) if two == "${" else -1
        if end > 0 and re.fullmatch(r"\$\{#?\w+", self._text[self._at : end]):
            self._take(end + 1 - self._at)
        elif self._text.startswith("<<<", self._at):
            self._word, self._at = "", self._at + 3
        else:
            self._closed = True

    def _plain(self, char: str) -> None:
        if char == "(":
            self._ended(char)
            self._push("(", 1)
        elif char == ")" and self._open:
            _, self._word, self._first = self._open.pop()
            self._take(1)
        elif char in _ENDS_WORD:
            self._ended(char)
            self._at += 1
        else:
            self._take(1)

    def _ended(self, char: str) -> None:
        """A word, and with it maybe the command."""
        word = self._word
        if word and not self._first and word not in BEFORE and not _NAME.match(word):
            self._first = word
        self._word = ""
        if char in _ENDS_COMMAND:
            self._first = ""

    def _take(self, count: int) -> None:
        self._word += self._text[self._at : self._at + count]
        self._at += count

    def _push(self, what: str, count: int) -> None:
        """A substitution begins a command of its own; what it stands in is known again after it."""
        self._take(count)
        self._open.append((what, self._word, self._first))
        if what == "(":
            self._word = self._first = ""

    def _close(self, what: str) -> None:
        assert self._inside == what
        self._open.pop()
        self._take(1)
