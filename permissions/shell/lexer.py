"""A tolerant reader of shell text: simple commands with their context, as generously as possible.

It never fails; what it does not understand it notes, and whoever grants must not trust such a
line. Restricting relies on it to see more commands than run, not fewer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gatewright.permissions.shell.words import Piece, Word, ansi_decode

MAX_DEPTH = 30
MAX_COMMANDS = 200
MAX_WORDS = 1000
FUEL_PER_CHAR = 40

Joined: TypeAlias = Literal["", ";", "&&", "||", "|"]


@dataclass(slots=True)
class Redirect:
    """`operator` without the descriptor; `body` is the text of a here-document or -string."""

    operator: str
    target: Word
    body: str | None = None
    expands: bool = False  # an unquoted delimiter: substitutions in the body run

    @property
    def file(self) -> bool:
        """Whether a file is opened, /dev/null and descriptor numbers left out."""
        if self.operator.startswith("<<"):
            return False
        text = self.target.plain
        if self.operator in ("<&", ">&") and text is not None and _DESCRIPTOR.fullmatch(text):
            return False
        return not (text == "/dev/null" and not self.target.quoted)

    @property
    def writes(self) -> bool:
        return ">" in self.operator

    @property
    def reads(self) -> bool:
        return "<" in self.operator


_DESCRIPTOR = re.compile(r"\d+-?|-")


@dataclass(slots=True)
class Command:
    """One simple command as it stands in the line."""

    words: list[Word] = field(default_factory=list[Word])
    assigns: list[tuple[str, Word]] = field(default_factory=list[tuple[str, Word]])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    joined: Joined = ""
    pipe_in: bool = False
    fed: bool = False  # inside a group that something is piped into
    pipe_out: bool = False
    background: bool = False
    depth: int = 0
    statement: int = 0  # commands of one pipeline share it, with what is substituted into them
    spans: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    values: tuple[str, tuple[Word, ...]] | None = None  # a loop variable and what it takes

    @property
    def empty(self) -> bool:
        return not (self.words or self.assigns or self.redirects or self.values)


@dataclass(frozen=True, slots=True)
class Scope:
    """The begin or end of a subshell or substitution: what is set inside does not come out."""

    begins: bool


Event: TypeAlias = Command | Scope


@dataclass(slots=True)
class Reading:
    """What was found: `oddities` end automatic grants, `errors` end all but exact ones."""

    events: list[Event] = field(default_factory=list[Event])
    oddities: set[str] = field(default_factory=set[str])
    errors: set[str] = field(default_factory=set[str])

    @property
    def commands(self) -> list[Command]:
        return [event for event in self.events if isinstance(event, Command)]


_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_PLAIN = re.compile(r"[^\s'\"\\$`;&|<>()]+")
_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;|]|&(?!>)")
_REDIRECT = re.compile(
    r"(\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|(&>>|&>)"
)
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?\+?=")
_DOUBLE_PLAIN = re.compile(r"[^\"\\$`]+")
_ARITHMETIC = re.compile(r"\$?\(\((?:[^`'\"();\n$]|\$[A-Za-z_#?])*\)\)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL_VAR = re.compile(r"[0-9@*#?$!-]")
_UNDERSTOOD_VARS = frozenset({"HOME", "PWD", "?", "#"})
_SUBSTITUTES = re.compile(r"\$\(|`|[<>]\(")

_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "coproc"}
)
_OPENERS = frozenset({"if", "while", "until", "for", "select", "case"})
_CLOSERS = frozenset({"fi", "done", "esac"})


TOO_MUCH = "more commands and words than can be looked through"


class Lexer:
    """Reads one text; nested substitutions are read by the same object, backticks by another."""

    def __init__(self, text: str, depth: int = 0, fuel: list[int] | None = None) -> None:
        self._text = text
        self._end = len(text)
        self._depth = depth
        # steps, commands and words left; shared with everything read inside
        self._fuel = (
            fuel if fuel is not None else [200 + FUEL_PER_CHAR * len(text), MAX_COMMANDS, MAX_WORDS]
        )
        self._statement = 0
        self._heredocs: list[Redirect] = []
        self._groups: list[bool] = []  # for every open group whether something is piped into it
        self.reading = Reading()

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
        found = _ARITHMETIC.match(self._text, index)
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
        found = _ARITHMETIC.match(self._text, index)
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
        lexer = Lexer(text, self._depth + 1, self._fuel)
        lexer._statement = self._statement
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
        lexer = Lexer(text, self._depth + 1, self._fuel)
        lexer._statement = self._statement
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


def _cut(word: Word, count: int) -> Word:
    """The word without its first `count` characters, which are plain."""
    first = word.pieces[0]
    rest = Piece(first.kind, first.text[count:], first.quoted)
    pieces = (rest, *word.pieces[1:]) if rest.text else word.pieces[1:]
    return Word(word.raw[count:], pieces)


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
