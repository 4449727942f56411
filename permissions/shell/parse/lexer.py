"""A tolerant reader of shell text: simple commands with their context, as generously as possible.

Restricting relies on it to see more commands than run, not fewer; granting trusts it only where
nothing odd was found and the grammar agrees.
"""

from __future__ import annotations

import re

from gatewright.permissions.shell.parse.reading import Command, Joined, Redirect, Scope
from gatewright.permissions.shell.parse.word_reader import ARITHMETIC, TOO_MUCH, WordReader
from gatewright.permissions.shell.parse.words import Piece, Word
from gatewright.tools.system.patterns import later

_BLANK = later(r"(?:[ \t]|\\\n)+")
_OPERATOR = later(r"&&|\|\||;;&|;;|;&|\|&|[;|]|&(?!>)")
_REDIRECT = later(r"(\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|(&>>|&>)")
_ASSIGN = later(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?\+?=")
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "coproc"}
)
_OPENERS = frozenset({"if", "while", "until", "for", "select", "case"})
_CLOSERS = frozenset({"fi", "done", "esac"})


class Lexer(WordReader):
    """Reads lists of commands, redirections and here-documents."""

    def another(self, text: str) -> Lexer:
        inner = Lexer(text, self._depth + 1, self._fuel)
        inner._statement = self._statement
        return inner

    # --- lists of commands ---

    def _list(self, index: int, closer: str) -> int:
        """Read commands until the text ends or an unmatched `)`; returns where it stopped."""
        text, end = self._text, self._end
        command = Command(depth=self._depth, statement=self._statement)
        opened = 0
        while index < end and self._burn():
            found = _BLANK.match(text, index)
            if found is not None:
                index = found.end()
                continue
            char = text[index]
            if char == "\n":
                command = self._finish(command, ";")
                index = self._newline(index + 1)
            elif char == "#":
                line_end = text.find("\n", index)
                index = end if line_end < 0 else line_end
            elif char == "(":
                index, opened = self._open(index, command, opened)
                command = self._finish(command, command.joined)
            elif char == ")":
                if opened == 0 and (closer or "case" not in self.reading.oddities):
                    self._finish(command, "")
                    return index
                command = self._finish(command, ";")
                index += 1
                if opened:
                    opened -= 1
                    self._leave_group()
                    command.fed = self._fed()
                    self.reading.events.append(Scope(False))
            else:
                index, command = self._step(index, command)
        self._finish(command, "")
        if opened or closer:
            self._fail("an open bracket")
        return index

    def _open(self, index: int, command: Command, opened: int) -> tuple[int, int]:
        found = ARITHMETIC.match(self._text, index)
        if found is not None:
            self._odd("arithmetic")
            return found.end(), opened
        if command.words or command.assigns:
            self._odd("a function or pattern")
        self.reading.events.append(Scope(True))
        self._groups.append(command.pipe_in or command.fed)
        return index + 1, opened + 1

    def _fed(self) -> bool:
        return bool(self._groups) and self._groups[-1]

    def _leave_group(self) -> None:
        if self._groups:
            self._groups.pop()

    def _step(self, index: int, command: Command) -> tuple[int, Command]:
        """One operator, redirection or word."""
        text = self._text
        found = _REDIRECT.match(text, index)
        if found is not None:
            return self._redirect(found, command), command
        found = _OPERATOR.match(text, index)
        if found is not None:
            return found.end(), self._operator(found.group(), command)
        start = index
        index, word = self._word(index)
        if index == start:  # nothing that starts a word: step over it
            self._odd("a stray character")
            return index + 1, command
        self._take(word, command, (start, index))
        return index, command

    def _operator(self, operator: str, command: Command) -> Command:
        if operator in ("|", "|&"):
            if command.empty and not self._after_group():
                self._odd("an empty command")
            command.pipe_out = True
            following = self._finish(command, "|")
            following.pipe_in = True
            following.statement = command.statement
            return following
        if operator == "&":
            command.background = True
            return self._finish(command, ";")
        if operator in ("&&", "||"):
            return self._finish(command, "&&" if operator == "&&" else "||")
        if operator != ";":
            self._odd("case")
        return self._finish(command, ";")

    def _after_group(self) -> bool:
        return bool(self.reading.events) and isinstance(self.reading.events[-1], Scope)

    def _finish(self, command: Command, joined: Joined) -> Command:
        """Emit a command if it holds anything and begin the next."""
        if command.empty:
            command.joined = command.joined or joined
            if joined != "|" and not command.pipe_in and not self._fed():
                self._statement += 1
                command.statement = self._statement
            return command
        self.reading.events.append(command)
        self._fuel[1] -= 1
        if self._fuel[1] < 0:
            self._fail(TOO_MUCH)
            self._fuel[0] = -1
        if joined != "|" and not self._fed():
            self._statement += 1
        return Command(joined=joined, fed=self._fed(), depth=self._depth, statement=self._statement)

    def _take(self, word: Word, command: Command, span: tuple[int, int]) -> None:
        """Put a word where it belongs: keyword, assignment or argument."""
        self._count_word()
        plain = word.plain
        if not command.words:
            if plain is not None and not command.assigns and self._keyword(plain, command):
                return
            found = _ASSIGN.match(word.raw)
            if found is not None:
                self._assign(found, word, command)
                command.spans.append(span)
                return
        values = command.values
        if values is not None:
            if plain == "in" or not values[0]:
                command.values = (values[0] or word.raw, values[1])
            else:
                command.values = (values[0], (*values[1], word))
            return
        command.words.append(word)
        command.spans.append(span)

    def _keyword(self, plain: str, command: Command) -> bool:
        if plain == "!":
            return True
        if plain == "}" or plain in _CLOSERS:
            self._leave_group()
            command.fed = self._fed()
        elif plain == "{" or plain in _OPENERS:
            self._groups.append(command.pipe_in or command.fed)
            command.fed = self._fed()
        if plain in ("{", "}"):
            return True
        if plain in _KEYWORDS:
            self._odd(plain)
            return True
        if plain in ("for", "select"):
            self._odd(plain)
            command.values = ("", ())
            return True
        if plain in ("case", "function", "[["):
            self._odd(plain)
            return plain == "function"
        return False

    def _assign(self, found: re.Match[str], word: Word, command: Command) -> None:
        if found.group(2) or word.raw[: found.end()].endswith("+="):
            self._odd("an array or appending assignment")
        value = _cut(word, found.end())
        command.assigns.append((found.group(1), value))

    # --- redirections ---

    def _redirect(self, found: re.Match[str], command: Command) -> int:
        operator = found.group(2) or found.group(3)
        if found.group(1) and found.group(1).startswith("{"):
            self._odd("a named descriptor")
        index = self._blanks(found.end())
        start = index
        index, word = self._word(index)
        if index == start:
            self._fail("a redirection without a target")
            return max(index, found.end())
        redirect = Redirect(operator, word)
        self._count_word()
        if operator in ("<<", "<<-"):
            redirect.expands = not word.quoted
            if redirect.expands:
                self._odd("a here-document that expands")
            self._heredocs.append(redirect)
        elif operator == "<<<":
            redirect.body = "".join(piece.text for piece in word.pieces)
            self._odd("a here-string")
        command.redirects.append(redirect)
        return index

    def _blanks(self, index: int) -> int:
        found = _BLANK.match(self._text, index)
        return found.end() if found is not None else index

    def _newline(self, index: int) -> int:
        """Read the bodies of the here-documents that begin on this line."""
        pending, self._heredocs = self._heredocs, []
        for redirect in pending:
            delimiter = "".join(piece.text for piece in redirect.target.pieces)
            lines: list[str] = []
            closed = False
            while index < self._end and not closed:
                stop = self._text.find("\n", index)
                stop = self._end if stop < 0 else stop
                line = self._text[index:stop]
                index = min(stop + 1, self._end)
                bare = line.lstrip("\t") if redirect.operator == "<<-" else line
                closed = bare == delimiter
                if not closed and self._depth and bare.rstrip(")` \t\"'") == delimiter:
                    self._odd("a here-document closed by what is around it")
                if not closed:
                    lines.append(line)
            if not closed:
                self._fail("a here-document without an end")
            redirect.body = "\n".join(lines)
            if redirect.expands:
                self._rescan(redirect.body)
        return index


def _cut(word: Word, count: int) -> Word:
    """The word without its first `count` characters, which are plain."""
    first = word.pieces[0]
    rest = Piece(first.kind, first.text[count:], first.quoted)
    pieces = (rest, *word.pieces[1:]) if rest.text else word.pieces[1:]
    return Word(word.raw[count:], pieces)
