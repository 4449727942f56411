"""A command line as the gate judges it: resolved simple commands with the directory they run in.

`understood` lines were read the same way by two readers and hold nothing either does not know;
only those are granted piece by piece. Everything else may only be restricted.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from gatewright.permissions.paths import absolute, lexical
from gatewright.permissions.shell.parse.lexer import Lexer
from gatewright.permissions.shell.parse.reading import Command, Reading, Scope
from gatewright.permissions.shell.parse.syntax import Syntax, has_error, syntax_of
from gatewright.permissions.shell.parse.word_reader import TOO_MUCH
from gatewright.permissions.shell.parse.words import Arg, Piece, Word, expand, spread
from gatewright.tools.system.patterns import later

MAX_CHARS = 10_000
MAX_READ = 100_000
MAX_BASES = 6
MAX_BRACKETS = 300

Bases = tuple[str | None, ...]

_CONTROL = later(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Target(msgspec.Struct, frozen=True):
    """A redirection with its expanded target; `file` is False for descriptors and /dev/null."""

    operator: str
    arg: Arg
    file: bool
    writes: bool
    reads: bool
    body: str | None = None
    expands: bool = False


class Part(msgspec.Struct, frozen=True):
    """One simple command. `bases` are the directories it may run in, None an unknown one."""

    argv: tuple[Arg, ...]
    assigns: tuple[tuple[str, Arg], ...] = ()
    redirects: tuple[Target, ...] = ()
    bases: Bases = ()
    fed: bool = False
    pipe_out: bool = False
    background: bool = False
    statement: int = 0
    source: str = ""
    moved: bool = False  # an earlier cd of this line decides where it runs
    via: tuple[str, ...] = ()  # the wrappers that were opened to get here
    ends: tuple[int, ...] = ()  # where each word ends in the line, if it stands there as such

    @property
    def program(self) -> str:
        """The program's name without its directory, or ''."""
        return self.argv[0].text.rpartition("/")[2] if self.argv else ""

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(arg.text for arg in self.argv)


class Line(msgspec.Struct, frozen=True):
    """The whole line. `parts` are what runs, substitutions before what they are part of."""

    text: str
    parts: tuple[Part, ...]
    understood: bool
    parsable: bool
    why: str
    background: bool
    complete: bool  # False: some of it was not even looked at


@lru_cache(maxsize=512)
def _read(text: str) -> tuple[Reading, Syntax | None, str]:
    """Both readings, and why the line cannot be parsed ('' if it can)."""
    trouble = _trouble(text)
    reading = Lexer(text[:MAX_READ]).read()
    if not trouble and reading.errors:
        trouble = f"it has {min(reading.errors)}"
    if trouble or reading.oddities:
        # nothing is granted in parts; the grammar is only asked whether it is shell at all
        error = bool(trouble) or has_error(text)
        return reading, None, trouble or ("its syntax cannot be parsed" if error else "")
    syntax = syntax_of(text)
    if syntax.error:
        trouble = "its syntax cannot be parsed"
    return reading, syntax, trouble


def _trouble(text: str) -> str:
    if len(text) > MAX_CHARS:
        return f"it is longer than {MAX_CHARS:,} characters"
    if text.count("[") > MAX_BRACKETS:
        return "it has more brackets than can be looked through"  # the grammar takes seconds
    if _CONTROL.search(text):
        return "it contains control characters"
    if not text.isascii() and any(_invisible(char) for char in text if ord(char) > 127):
        return "it contains invisible or ambiguous characters"
    return ""


# Letters, marks and symbols that show nothing.
_BLANK_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0))))
)


def _invisible(char: str) -> bool:
    return char in _BLANK_LETTERS or unicodedata.category(char) in (
        "Zs",
        "Zl",
        "Zp",
        "Cf",
        "Cc",
        "Co",
        "Cn",
        "Cs",
    )


def read_line(text: str, start: Start) -> Line:
    """Read and resolve a line; never fails."""
    reading, syntax, trouble = _read(text)
    oddity = "" if trouble else _oddity(reading, syntax)
    parts = _Replay(start, text).run(reading)
    return Line(
        text=text,
        parts=parts,
        understood=not trouble and not oddity,
        parsable=not trouble,
        why=trouble or oddity,
        background=any(part.background for part in parts),
        complete=TOO_MUCH not in reading.errors and len(text) <= MAX_READ,
    )


def _oddity(reading: Reading, syntax: Syntax | None) -> str:
    if reading.oddities:
        return f"it uses {min(reading.oddities)}"
    if syntax is None or not syntax.known:
        return "it uses syntax that is not understood"
    mine = sorted(_raw(command) for command in reading.commands if command.words)
    if tuple(mine) != syntax.commands:
        return "it can be read in two ways"
    if syntax.assignments != sum(len(command.assigns) for command in reading.commands):
        return "it can be read in two ways"
    return ""


def _raw(command: Command) -> tuple[str, ...]:
    """The words as the grammar should have seen them; it loses a `-` before a here-document."""
    if command.words[0].plain == "[":
        return ("[", " ".join(word.raw for word in command.words))
    words = tuple(word.raw for word in command.words)
    here = any(one.operator in ("<<", "<<-") for one in command.redirects)
    return words[:-1] if here and len(words) > 1 and words[-1] == "-" else words


class Start(msgspec.Struct, frozen=True):
    """Where and with which variables a line begins."""

    bases: Bases
    home: str
    env: Mapping[str, str]


class _State:
    """What earlier commands of the line changed for the later ones."""

    __slots__ = ("bases", "before", "env", "moved", "sure")

    def __init__(self, bases: Bases, sure: dict[str, str], env: dict[str, tuple[str, ...]]) -> None:
        self.bases = bases
        self.before = bases  # of the && chain that is running
        self.sure = sure
        self.env = env
        self.moved = False

    def copy(self) -> _State:
        new = _State(self.bases, dict(self.sure), dict(self.env))
        new.before, new.moved = self.before, self.moved
        return new


class _Replay:
    """Runs the events of a reading in order, following cd and assignments."""

    def __init__(self, start: Start, text: str) -> None:
        self._home = start.home
        self._text = text
        sure = {"HOME": start.home, "?": "0", "#": "0"}
        env: dict[str, tuple[str, ...]] = {name: (value,) for name, value in start.env.items()}
        self._state = _State(start.bases, sure, env)
        self._outer: list[_State] = []

    def run(self, reading: Reading) -> tuple[Part, ...]:
        parts: list[Part] = []
        for event in reading.events:
            if isinstance(event, Scope):
                if event.begins:
                    self._outer.append(self._state)
                    self._state = self._state.copy()
                elif self._outer:
                    self._state = self._outer.pop()
                continue
            part = self._part(event)
            if part is not None:
                parts.append(part)
        return tuple(parts)

    def _part(self, command: Command) -> Part | None:
        state = self._state
        self._join(command.joined)
        if len(state.bases) == 1 and state.bases[0] is not None:
            state.sure["PWD"] = state.bases[0]
        else:
            state.sure.pop("PWD", None)
        if command.values is not None:
            name, words = command.values
            texts = tuple(one for word in words for one in self._expand(word).readings)
            self._set(name, texts)
        if not (command.words or command.assigns or command.redirects):
            return None
        part = Part(
            argv=spread(tuple(arg for word in command.words for arg in self._args(word))),
            assigns=tuple((name, self._expand(word)) for name, word in command.assigns),
            redirects=tuple(
                Target(
                    one.operator, self._expand(one.target), one.file, one.writes, one.reads,
                    one.body, one.expands,
                )
                for one in command.redirects
            ),
            bases=state.bases,
            fed=command.pipe_in or command.fed,
            pipe_out=command.pipe_out,
            background=command.background,
            statement=command.statement,
            source=self._source(command),
            moved=state.moved,
            ends=tuple(end for _, end in command.spans[len(command.assigns) :]),
        )  # fmt: skip
        self._effects(part, command)
        return part

    def _source(self, command: Command) -> str:
        if command.spans:
            return self._text[command.spans[0][0] : command.spans[-1][1]]
        return " ".join(word.raw for word in command.words)

    def _expand(self, word: Word) -> Arg:
        return expand(word, self._state.env, self._state.sure)

    def _args(self, word: Word) -> tuple[Arg, ...]:
        """Usually one; an unquoted variable may hold several words."""
        pieces = word.pieces
        if len(pieces) == 1 and pieces[0].kind == "var" and not pieces[0].quoted:
            values = self._state.env.get(pieces[0].text, ())
            if values and len(values[0].split()) > 1:
                return tuple(
                    replace(self._expand(Word(one, (Piece("text", one, False),))), dynamic=True)
                    for one in values[0].split()
                )
        return (self._expand(word),)

    def _join(self, joined: str) -> None:
        """After `&&` a cd has succeeded, after anything else it may have failed."""
        state = self._state
        if joined not in ("&&", "|"):
            both = tuple(dict.fromkeys((*state.before, *state.bases)))[:MAX_BASES]
            state.bases = state.before = both

    def _effects(self, part: Part, command: Command) -> None:
        if command.pipe_in or command.pipe_out or command.background:
            return  # it runs in a subshell of its own
        if not part.argv:
            for name, arg in part.assigns:
                self._set(name, () if arg.unknown else arg.readings)
            return
        part = _as_run(part)
        program = part.argv[0].text
        if program in _MOVES:
            self._move(part, program)
        elif program in _MOVES_BY_TEXT and any(map(_MOVING.search, part.texts[1:])):
            self._state.moved = True
            self._state.bases = (*self._state.bases, None)
        elif program in ("export", "declare", "local", "readonly", "typeset", "read", "unset"):
            for arg in part.argv[1:]:
                name, equals, value = arg.text.partition("=")
                if not name.startswith("-"):
                    self._set(name, (value,) if equals and not arg.unknown else ())

    def _set(self, name: str, values: tuple[str, ...]) -> None:
        state = self._state
        state.sure.pop(name, None)
        if values:
            state.env[name] = values[:MAX_BASES]
            if name == "HOME":
                state.sure["HOME"] = values[0]
        else:
            state.env.pop(name, None)

    def _move(self, part: Part, program: str) -> None:
        state = self._state
        operands = [
            arg for arg in part.argv[1:] if not (arg.text.startswith("-") and len(arg.text) > 1)
        ]
        state.moved = True
        if program == "popd" or (program == "pushd" and not operands):
            state.bases = (None,)
            return
        if not operands:
            state.bases = (state.sure.get("HOME"),)
            return
        target = operands[0]
        if target.unknown or target.text in ("-", "") or target.text.startswith("+"):
            state.bases = (None,)
            return
        moved: list[str | None] = []
        for base in state.bases:
            for text in target.readings:
                if target.patterns and not target.variants:
                    moved.append(None)
                elif text.startswith("/"):
                    moved.append(lexical(text))
                else:
                    joined = None if base is None else absolute(text, base, self._home)
                    moved.append(joined)
        state.bases = tuple(dict.fromkeys(moved))[:MAX_BASES]


_MOVES = frozenset({"cd", "pushd", "popd", "chdir"})
_MOVES_BY_TEXT = frozenset({"eval", "trap", "alias", "shopt"})
_MOVING = later(r"\b(?:cd|pushd|popd|chdir|autocd)\b")
_RUN_HERE = frozenset({"command", "builtin", "time"})  # by the shell itself


def _as_run(part: Part) -> Part:
    """Without the words before a command of the shell's own that change nothing about it."""
    argv = part.argv
    while len(argv) > 1 and argv[0].text in _RUN_HERE:
        argv = argv[1:]
        while len(argv) > 1 and argv[0].text in ("-p", "--"):
            argv = argv[1:]
    return part if argv is part.argv else replace(part, argv=argv)


_SEGMENTS = later(r"[;&|\n(){}`<>'\"]+|\$\(")


def sweep(text: str) -> Iterable[tuple[str, ...]]:
    """Everything in raw text that might be a command, quotes ignored; for restricting only."""
    for segment in _SEGMENTS.split(text[:MAX_READ]):
        words = tuple(segment.replace("\\", "").split())
        while words and (words[0] in _SWEPT or _ASSIGNED.match(words[0])):
            words = words[1:]
        if words:
            yield words


_SWEPT = frozenset(
    {
        "if",
        "then",
        "elif",
        "else",
        "while",
        "until",
        "do",
        "!",
        "time",
        "coproc",
        "in",
        "command",
        "builtin",
        "exec",
        "nohup",
        "env",
        "sudo",
    }
)
_ASSIGNED = later(r"[A-Za-z_]\w*\+?=")
