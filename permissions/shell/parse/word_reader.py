"""Reads shell words: quotes, expansions, and the commands hidden in them.

It never fails; what it does not understand it notes for whoever grants.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from gatewright.permissions.shell.parse.reading import Command, Reading, Redirect, Scope
from gatewright.permissions.shell.parse.words import Piece, Word, ansi_decode
from gatewright.tools.system.patterns import later

MAX_DEPTH = 30
MAX_COMMANDS = 200
MAX_WORDS = 1000
FUEL_PER_CHAR = 40
TOO_MUCH = "more commands and words than can be looked through"

_PLAIN = later(r"[^\s'\"\\$`;&|<>()]+")
_DOUBLE_PLAIN = later(r"[^\"\\$`]+")
_NAME = later(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL_VAR = later(r"[0-9@*#?$!-]")
_UNDERSTOOD_VARS = frozenset({"HOME", "PWD", "?", "#"})
_SUBSTITUTES = later(r"\$\(|`|[<>]\(")
ARITHMETIC = later(r"\$?\(\((?:[^`'\"();\n$]|\$[A-Za-z_#?])*\)\)")


class WordReader(ABC):
    """The state of reading one text, and everything about single words.

    Nested substitutions are read by the same object, backticks by another of the same kind.
    """

    def __init__(self, text: str, depth: int = 0, fuel: list[int] | None = None) -> None:
        self._text = text
        self._end = len(text)
        self._depth = depth
        # steps, commands and words left; shared with everything read inside
        self._fuel = (
            fuel if fuel is not None else [200 + FUEL_PER_CHAR * len(text), MAX_COMMANDS, MAX_WORDS]
        )
        self._statement: int = 0
        self._heredocs: list[Redirect] = []
        self._groups: list[bool] = []  # for every open group whether something is piped into it
        self.reading = Reading()

    @abstractmethod
    def _list(self, index: int, closer: str) -> int:
        """Read commands until the text ends or an unmatched `)`; returns where it stopped."""

    @abstractmethod
    def another(self, text: str) -> WordReader:
        """A reader for a separate text inside this one, sharing what is left to spend."""

    def read(self) -> Reading:
        end = self._list(0, "")
        if end < self._end:
            self._fail("unbalanced )")
            while end < self._end and self._fuel[0] >= 0:
                end = self._list(end + 1, "")
        if self._heredocs:
            self._fail("a here-document without an end")
        return self.reading

    def _fail(self, what: str) -> None:
        self.reading.errors.add(what)

    def _odd(self, what: str) -> None:
        self.reading.oddities.add(what)

    def _burn(self) -> bool:
        self._fuel[0] -= 1
        if self._fuel[0] < 0:
            self._fail(TOO_MUCH)
            return False
        return True

    def _count_word(self) -> None:
        self._fuel[2] -= 1
        if self._fuel[2] < 0:
            self._fuel[0] = -1

    # --- words ---

    def _word(self, index: int) -> tuple[int, Word]:
        text, end, start = self._text, self._end, index
        pieces: list[Piece] = []
        while index < end and self._burn():
            found = _PLAIN.match(text, index)
            if found is not None:
                pieces.append(Piece("text", found.group(), False))
                index = found.end()
                continue
            char = text[index]
            if char == "'":
                index = self._single(index, pieces)
            elif char == '"':
                index = self._double(index + 1, pieces)
            elif char == "\\":
                index = self._backslash(index, pieces)
            elif char == "$":
                index = self._dollar(index, pieces, quoted=False)
            elif char == "`":
                index = self._backtick(index, pieces, quoted=False)
            elif char in "<>" and text.startswith("(", index + 1):
                self._odd("process substitution")
                index = self._nested(index, 2, pieces, quoted=False)
            elif char == "(" and pieces and _extglob(text, index):
                index = self._extglob(index, pieces)
            else:
                break
        return index, Word(text[start:index], _merged(pieces))

    def _single(self, index: int, pieces: list[Piece]) -> int:
        stop = self._text.find("'", index + 1)
        if stop < 0:
            self._fail("an open quote")
            stop = self._end
        pieces.append(Piece("text", self._text[index + 1 : stop], True))
        return min(stop + 1, self._end)

    def _backslash(self, index: int, pieces: list[Piece]) -> int:
        if index + 1 >= self._end:
            pieces.append(Piece("text", "\\", True))
            self._fail("a backslash at the end")
            return index + 1
        following = self._text[index + 1]
        if following == "\n":
            self._odd("a line continued within a word")
        else:
            pieces.append(Piece("text", following, True))
        return index + 2

    def _double(self, index: int, pieces: list[Piece]) -> int:
        """From behind the opening quote to behind the closing one."""
        text = self._text
        pieces.append(Piece("text", "", True))
        while index < self._end and self._burn():
            found = _DOUBLE_PLAIN.match(text, index)
            if found is not None:
                pieces.append(Piece("text", found.group(), True))
                index = found.end()
                continue
            char = text[index]
            if char == '"':
                return index + 1
            if char == "\\":
                following = text[index + 1 : index + 2]
                if following == "\n":
                    self._odd("a line continued within a word")
                elif following and following in '$`"\\':
                    pieces.append(Piece("text", following, True))
                else:
                    pieces.append(Piece("text", "\\" + following, True))
                index += 2
            elif char == "$":
                index = self._dollar(index, pieces, quoted=True)
            else:
                index = self._backtick(index, pieces, quoted=True)
        self._fail("an open quote")
        return min(index, self._end)

    def _dollar(self, index: int, pieces: list[Piece], *, quoted: bool) -> int:
        text = self._text
        following = text[index + 1 : index + 2]
        if following == "(":
            return self._dollar_paren(index, pieces, quoted=quoted)
        if following == "{":
            return self._braced(index, pieces, quoted=quoted)
        if following == "'" and not quoted:
            return self._ansi(index, pieces)
        if following == '"' and not quoted:
            self._odd("a translated string")
            return self._double(index + 2, pieces)
        if following == "[":
            self._odd("arithmetic")
        name = _NAME.match(text, index + 1) or _SPECIAL_VAR.match(text, index + 1)
        if name is None:
            pieces.append(Piece("text", "$", quoted))
            return index + 1
        if name.group() not in _UNDERSTOOD_VARS:
            self._odd("a variable")
        pieces.append(Piece("var", name.group(), quoted))
        return name.end()

    def _dollar_paren(self, index: int, pieces: list[Piece], *, quoted: bool) -> int:
        found = ARITHMETIC.match(self._text, index)
        if found is not None:
            self._odd("arithmetic")
            pieces.append(Piece("unknown", found.group(), quoted))
            return found.end()
        if self._text.startswith("((", index + 1):
            self._odd("arithmetic")
        return self._nested(index, 2, pieces, quoted=quoted)

    def _nested(self, index: int, skip: int, pieces: list[Piece], *, quoted: bool) -> int:
        """A substitution: its commands are read into the same list, in their own scope."""
        if self._depth >= MAX_DEPTH:
            self._fail("nested too deeply")
            return self._end
        self.reading.events.append(Scope(True))
        outer, self._heredocs = self._heredocs, []
        statement = self._statement
        self._depth += 1
        first = len(self.reading.events)
        stop = self._list(index + skip, ")")
        self._depth -= 1
        if self._heredocs:
            self._fail("a here-document without an end")
        self._heredocs = outer
        for event in self.reading.events[first:]:
            if isinstance(event, Command):
                event.statement = statement
        self._statement = statement
        self.reading.events.append(Scope(False))
        stop = min(stop + 1, self._end)
        pieces.append(Piece("substitution", self._text[index:stop], quoted))
        return stop

    def _braced(self, index: int, pieces: list[Piece], *, quoted: bool) -> int:
        """`${...}`: only a plain name is known; everything inside is looked through."""
        stop = _closing_brace(self._text, index + 2)
        if stop < 0:
            self._fail("an open brace")
            stop = self._end
        inner = self._text[index + 2 : stop]
        self._odd("an expansion")
        if _NAME.fullmatch(inner):
            pieces.append(Piece("var", inner, quoted))
        else:
            pieces.append(Piece("unknown", self._text[index : stop + 1], quoted))
            self._rescan(inner)
        return min(stop + 1, self._end)

    def _ansi(self, index: int, pieces: list[Piece]) -> int:
        self._odd("an ANSI-C string")
        stop = index + 2
        while stop < self._end and self._text[stop] != "'":
            stop += 2 if self._text[stop] == "\\" else 1
        if stop >= self._end:
            self._fail("an open quote")
        pieces.append(Piece("text", ansi_decode(self._text[index + 2 : stop]), True))
        return min(stop + 1, self._end)

    def _backtick(self, index: int, pieces: list[Piece], *, quoted: bool) -> int:
        stop = index + 1
        while stop < self._end and self._text[stop] != "`":
            stop += 2 if self._text[stop] == "\\" else 1
        if stop >= self._end:
            self._fail("an open backtick")
            stop = self._end
        inner = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1",
                       self._text[index + 1 : stop])  # fmt: skip
        if "\\" in self._text[index + 1 : stop]:
            self._odd("an escape between backticks")
        self._inner(inner)
        stop = min(stop + 1, self._end)
        pieces.append(Piece("substitution", self._text[index:stop], quoted))
        return stop

    def _inner(self, text: str) -> None:
        """Read a separate text, such as what stands between backticks."""
        if self._depth >= MAX_DEPTH:
            self._fail("nested too deeply")
            return
        lexer = self.another(text)
        found = lexer.read()
        for event in found.events:
            if isinstance(event, Command):
                event.statement = self._statement
                event.spans = []
        self.reading.events.extend((Scope(True), *found.events, Scope(False)))
        self.reading.oddities |= found.oddities
        self.reading.errors |= found.errors

    def _rescan(self, text: str) -> None:
        """Look for substitutions in raw text, whatever quotes are around them."""
        found = _SUBSTITUTES.search(text)
        if found is None:
            return
        if self._depth >= MAX_DEPTH:
            self._fail("nested too deeply")
            return
        lexer = self.another(text)
        index = 0
        while (found := _SUBSTITUTES.search(text, index)) is not None and self._burn():
            skipped: list[Piece] = []
            if found.group() == "`":
                index = lexer._backtick(found.start(), skipped, quoted=False)
            else:
                index = lexer._nested(found.start(), 2, skipped, quoted=False)
            index = max(index, found.end())
        self._adopt(lexer.reading)

    def _adopt(self, found: Reading) -> None:
        for event in found.events:
            if isinstance(event, Command):
                event.statement = self._statement
                event.spans = []
        self.reading.events.extend(found.events)
        self.reading.oddities |= found.oddities

    def _extglob(self, index: int, pieces: list[Piece]) -> int:
        self._odd("an extended glob")
        stop = self._text.find(")", index)
        if stop < 0:
            self._fail("an open bracket")
            stop = self._end
        self._rescan(self._text[index:stop])
        last = pieces.pop()
        pieces.append(Piece("text", last.text[:-1] + "*", False))
        return min(stop + 1, self._end)


def _extglob(text: str, index: int) -> bool:
    return text[index - 1] in "?*+@!"


def _merged(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Join neighbouring literal pieces of the same kind."""
    if len(pieces) < 2:
        return tuple(pieces)
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and piece.kind == "text" == last.kind and last.quoted == piece.quoted:
            merged[-1] = Piece("text", last.text + piece.text, piece.quoted)
        else:
            merged.append(piece)
    return tuple(merged)


def _closing_brace(text: str, index: int) -> int:
    """The `}` that ends an expansion, quotes and nesting respected; -1 if there is none."""
    depth, end = 0, len(text)
    while index < end:
        char = text[index]
        if char == "\\":
            index += 2
            continue
        if char == "'":
            close = text.find("'", index + 1)
            index = close + 1 if close > 0 else index + 1
            continue
        if text.startswith("${", index):
            depth += 1
            index += 2
            continue
        if char == "}":
            if depth == 0:
                return index
            depth -= 1
        index += 1
    return -1
