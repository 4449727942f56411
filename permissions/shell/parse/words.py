"""Shell words in pieces, before and after expansion.

A piece remembers whether it was quoted, because that decides what the shell would do with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from gatewright.permissions.rulebook.runners import is_runner
from gatewright.tools.system.patterns import later

PieceKind: TypeAlias = Literal["text", "var", "unknown", "substitution"]
MAX_BRACES = 64
MAX_BRACED = 400


class Piece(msgspec.Struct, frozen=True):
    """`text` is the literal text, a variable's name, or the source of something unknown."""

    kind: PieceKind
    text: str
    quoted: bool


class Word(msgspec.Struct, frozen=True):
    """One word as the shell reads it, nothing expanded yet."""

    raw: str
    pieces: tuple[Piece, ...]

    @property
    def plain(self) -> str | None:
        """The text of a word without any quoting or expansion, else None."""
        if len(self.pieces) == 1:
            piece = self.pieces[0]
            if piece.kind == "text" and not piece.quoted:
                return piece.text
        return None

    @property
    def quoted(self) -> bool:
        return any(piece.quoted for piece in self.pieces) or not self.pieces


class Arg(msgspec.Struct, frozen=True):
    """A word after expansion as far as it is known.

    `text` has its quotes removed; `dynamic` words depend on something a grant may not rely on;
    `unknown` ones hold a part nobody knows, `leads` if the word starts with it. `patterns` are
    the glob readings (quoted characters escaped), one per brace alternative, empty if literal.
    """

    text: str
    raw: str
    dynamic: bool = False
    unknown: bool = False
    leads: bool = False
    quoted: bool = False
    substitution: bool = False
    patterns: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def literal(self) -> bool:
        """Exactly `text`, whatever the machine looks like."""
        return not (self.dynamic or self.unknown or self.patterns)

    @property
    def readings(self) -> tuple[str, ...]:
        """Every text the word may stand for, glob patterns as written."""
        return self.variants or (self.text,)


_MAGIC = later(r"[*?]")
_WILD = later(r"[*?\[]")
_BRACE = later(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_ESCAPED = later(r"\\(.)", re.DOTALL)
_TO_ESCAPE = later(r"([*?\[\]{},\\])")
_NEEDS_SPLIT = later(r"[\s*?\[]")


def expand(word: Word, env: Mapping[str, tuple[str, ...]], sure: Mapping[str, str]) -> Arg:
    """Expand what is known. `sure` may be relied on, `env` is what a variable may also hold."""
    simple = word.plain
    if simple is not None and not _SPECIAL.search(simple):
        return Arg(simple, word.raw)
    several = _several(word, env, sure)
    if several is not None:
        return several
    found = _Expansion(word)
    for piece in word.pieces:
        found.add(piece, env, sure)
    found.home(_tilde(word, sure))
    return found.arg()


class _Expansion:
    """A word in the making: its text, and its shape with quoted wildcards escaped."""

    def __init__(self, word: Word) -> None:
        self._word = word
        self._texts: list[str] = []
        self._shapes: list[str] = []
        self._dynamic = self._unknown = self._leads = self._substitution = False
        self._magic = self._braces = False

    def add(
        self, piece: Piece, env: Mapping[str, tuple[str, ...]], sure: Mapping[str, str]
    ) -> None:
        if piece.kind == "text":
            self._literal(piece)
            return
        value = sure.get(piece.text) if piece.kind == "var" else None
        if value is not None and (piece.quoted or not _NEEDS_SPLIT.search(value)):
            self._put(value)
            return
        self._dynamic = True
        self._substitution = self._substitution or piece.kind == "substitution"
        known = env.get(piece.text, ()) if piece.kind == "var" else ()
        if known:
            self._put(known[0])
            return
        self._unknown = True
        self._leads = self._leads or not "".join(self._texts)
        self._put(f"${piece.text}" if piece.kind == "var" else piece.text)

    def _literal(self, piece: Piece) -> None:
        if piece.quoted:
            self._put(piece.text)
            return
        self._texts.append(piece.text)
        self._shapes.append(piece.text.replace("\\", "\\\\"))
        wild = _MAGIC.search(piece.text) is not None
        self._magic = self._magic or wild or ("[" in piece.text and "]" in self._word.raw)
        self._braces = self._braces or "{" in piece.text

    def _put(self, text: str) -> None:
        self._texts.append(text)
        self._shapes.append(_TO_ESCAPE.sub(r"\\\1", text))

    def home(self, tilde: tuple[str, str | None] | None) -> None:
        """Replace a tilde prefix, which stands in the first piece."""
        if tilde is None:
            return
        prefix, value = tilde
        if value is None:
            self._dynamic = self._unknown = self._leads = True
            return
        self._texts[0] = value + self._texts[0][len(prefix) :]
        self._shapes[0] = _TO_ESCAPE.sub(r"\\\1", value) + self._shapes[0][len(prefix) :]

    def arg(self) -> Arg:
        shape = "".join(self._shapes)
        patterns: tuple[str, ...] = (shape,) if self._magic else ()
        variants: tuple[str, ...] = ()
        if self._braces and len(shape) > MAX_BRACED:
            patterns = ("*",)
            self._unknown = self._dynamic = True
        elif self._braces and _BRACE.search(shape):
            patterns = tuple(brace_expand(shape))
            variants = tuple(_ESCAPED.sub(r"\1", one) for one in patterns)
        return Arg(
            text="".join(self._texts),
            raw=self._word.raw,
            dynamic=self._dynamic,
            unknown=self._unknown,
            leads=self._leads,
            quoted=self._word.quoted,
            substitution=self._substitution,
            patterns=patterns,
            variants=variants,
        )


def spread(argv: tuple[Arg, ...]) -> tuple[Arg, ...]:
    """A command with the words apart that braces make where a program's name may be among them."""
    if not any(arg.variants for arg in argv):
        return argv
    if (first := _apart(argv[0])) != argv[:1]:
        return tuple(replace(arg, dynamic=True) for arg in (*first, *_all_apart(argv[1:])))
    return (*first, *_all_apart(argv[1:])) if is_runner(first[0].text) else argv


def _all_apart(argv: tuple[Arg, ...]) -> Iterator[Arg]:
    return (one for arg in argv for one in _apart(arg))


def _apart(arg: Arg) -> tuple[Arg, ...]:
    """The words that braces make of one, as the shell gives them to what it runs."""
    texts = tuple(_ESCAPED.sub(r"\1", one) for one in arg.patterns)
    if not arg.variants or arg.variants != texts:  # or one of several that a variable may hold
        return (arg,)
    return tuple(
        replace(
            arg,
            text=text,
            dynamic=True,
            variants=(),
            patterns=(shape,) if _WILD.search(text) else (),
        )
        for text, shape in zip(texts, arg.patterns, strict=True)
        if text or arg.quoted
    )


def _several(word: Word, env: Mapping[str, tuple[str, ...]], sure: Mapping[str, str]) -> Arg | None:
    """A word with a variable that may hold one of several values, each of them a variant."""
    for piece in word.pieces:
        values = env.get(piece.text, ()) if piece.kind == "var" else ()
        if len(values) > 1 and piece.text not in sure:
            args = [expand(word, {**env, piece.text: (value,)}, sure) for value in values]
            return replace(args[0], variants=tuple(arg.text for arg in args))
    return None


_SPECIAL = later(r"[*?\[{~\\]")


def _tilde(word: Word, sure: Mapping[str, str]) -> tuple[str, str | None] | None:
    """The tilde prefix of an unquoted word and what it stands for (None: unknown)."""
    if not word.pieces or word.pieces[0].kind != "text" or word.pieces[0].quoted:
        return None
    first = word.pieces[0].text
    found = _TILDE.match(first)
    if found is None:
        return None
    lead, name = found.group(1) or "", found.group(2)
    whole = lead + "~" + name
    if len(first) == len(whole) and len(word.pieces) > 1:
        return None if word.pieces[1].quoted and not name else (whole, None)
    if name == "":
        home = sure.get("HOME")
        return whole, None if home is None else lead + home
    if name == "+":
        here = sure.get("PWD")
        return whole, None if here is None else lead + here
    return whole, None


_TILDE = later(r"([A-Za-z_][A-Za-z0-9_]*=)?~([A-Za-z0-9_.+-]*)(?=/|$)")


def brace_expand(text: str) -> list[str]:
    """`{a,b}` and `{1..3}` as the shell expands them; too many alternatives become a `*`."""
    pending, done = [text], list[str]()
    while pending:
        if len(pending) + len(done) > MAX_BRACES:
            return [_BRACE.sub("*", one) for one in (*done, *pending)][:MAX_BRACES]
        current = pending.pop()
        group = _first_group(current)
        if group is None:
            done.append(current)
            continue
        start, end, choices = group
        pending.extend(current[:start] + one + current[end:] for one in reversed(choices))
    return done


def _first_group(text: str) -> tuple[int, int, list[str]] | None:
    """The first brace group with alternatives: its span and them."""
    start = text.find("{")
    while start >= 0:
        if not _is_escaped(text, start):
            found = _group_at(text, start)
            if found is not None:
                return found
        start = text.find("{", start + 1)
    return None


def _group_at(text: str, start: int) -> tuple[int, int, list[str]] | None:
    depth, cuts, index = 0, [start], start
    while index < len(text):
        char = text[index]
        if char == "\\":
            index += 2
            continue
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                cuts.append(index)
                break
        elif char == "," and depth == 1:
            cuts.append(index)
        index += 1
    if depth or len(cuts) < 2:
        return None
    if len(cuts) == 2:
        return _range_at(text, start, cuts[1])
    return start, cuts[-1] + 1, [text[a + 1 : b] for a, b in pairwise(cuts)]


_RANGE = later(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?|([A-Za-z])\.\.([A-Za-z])(?:\.\.-?\d+)?")


def _range_at(text: str, start: int, end: int) -> tuple[int, int, list[str]] | None:
    found = _RANGE.fullmatch(text[start + 1 : end])
    if found is None:
        return None
    if found.group(4):
        low, high = sorted((ord(found.group(4)), ord(found.group(5))))
        return start, end + 1, [chr(code) for code in range(low, high + 1)]
    low, high = sorted((int(found.group(1)), int(found.group(2))))
    if high - low > MAX_BRACES:
        return start, end + 1, ["*"]
    return start, end + 1, [str(number) for number in range(low, high + 1)]


def _is_escaped(text: str, index: int) -> bool:
    count = 0
    while index > 0 and text[index - 1] == "\\":
        count, index = count + 1, index - 1
    return count % 2 == 1


_ANSI = later(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})"
    r"|U([0-9a-fA-F]{1,8})|c(.))",
    re.DOTALL,
)
_ANSI_CHARS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def ansi_decode(text: str) -> str:
    """The inside of `$'...'`; it ends at a NUL, as it does in the shell."""

    def one(found: re.Match[str]) -> str:
        char, octal, hexa, four, eight, control = found.groups()
        if char:
            return _ANSI_CHARS[char]
        if control:
            return chr(ord(control.upper()) & 0x1F)
        code = int(octal, 8) & 0xFF if octal else int(hexa or four or eight, 16)
        return chr(code) if code < 0x110000 else ""

    return _ANSI.sub(one, text).partition("\0")[0]
