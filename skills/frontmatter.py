"""The front matter of skills, commands, agents and output styles, read as people write it.

A file with a mark of its encoding, CRLF, tabs, or a text with `: ` in it is read all the same, and
`notes` says what was taken how. What still is no YAML raises, with its line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gatewright.skills.repairs import continued, hint_quoted, quoted
from gatewright.skills.yaml_values import Value, Yaml, YamlError, read_yaml
from gatewright.tools.system.patterns import later
from gatewright.tools.system.regular import NotRegular, TooLarge, read_regular

FILE_LIMIT = 1024 * 1024
FRONT_LIMIT = 128 * 1024
NOTES = 20
_FENCE = later(r"^---[ \t]*$", re.MULTILINE)
_CONTROL = later(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


class Note(NamedTuple):
    """A line of the file, counted from 1, what is to be said of it, and what to do."""

    line: int
    text: str
    fix: str = ""


class FrontError(ValueError):
    """Why a file cannot be used; `line` is 0 where it is about all of it."""

    def __init__(self, text: str, line: int = 0) -> None:
        super().__init__(text)
        self.line = line


class Front(NamedTuple):
    """`said` is what single values say as written: a name may look like a number."""

    values: Mapping[str, Value]
    body: str
    lines: Mapping[str, int] = {}  # of the keys, in the file
    said: Mapping[str, str] = {}
    notes: tuple[Note, ...] = ()

    def line(self, key: str) -> int:
        return self.lines.get(key, 1)


def read_front_file(path: Path, known: Collection[str] = ()) -> Front | None:
    """The file's front matter and text. Raises FrontError; None where it has no front matter."""
    try:
        data = read_regular(path, FILE_LIMIT)
    except TooLarge:
        raise FrontError("it is larger than 1 MiB") from None
    except NotRegular as error:
        raise FrontError(str(error).partition(" is ")[2] or "it is no file") from None
    except OSError as error:
        raise FrontError(f"it cannot be read: {error.strerror or error}") from None
    return read_front(decoded(data), known)


def decoded(data: bytes) -> str:
    """The text, by the mark at its beginning; what is no text is visibly replaced."""
    for mark, name in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig")):
        if data.startswith(mark):
            return data.decode(name, errors="replace")
    raise AssertionError


def read_front(text: str, known: Collection[str] = ()) -> Front | None:
    """`known` are the keys that mean something: others are noted, with the nearest of them.

    None where the text does not begin with `---`. Raises FrontError.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    text = text if "\n" in text else text.replace("\r", "\n")
    skipped = len(text) - len(text.lstrip(" \t\n"))
    before = text.count("\n", 0, skipped)
    first = _FENCE.match(text, text.rfind("\n", 0, skipped) + 1)
    if first is None:
        return None
    last = _FENCE.search(text, first.end())
    if last is None:
        raise FrontError("the line --- that ends its front matter is missing", before + 1)
    front = text[first.end() + 1 : last.start()]
    if len(front) > FRONT_LIMIT:
        raise FrontError("its front matter is longer than 128 kB", before + 1)
    begins = before + 2  # the line of the file that is line 0 of the front matter
    read, notes = _lenient(front, known, begins)
    lines = {key: begins + line for key, line in read.lines.items()}
    notes += _unknown(read, known, lines)
    body = text[last.end() :].strip("\n")
    return Front(read.values, body, lines, read.said, tuple(notes[:NOTES]))


def _lenient(front: str, known: Collection[str], begins: int) -> tuple[Yaml, list[Note]]:
    try:
        return read_yaml(front), []
    except YamlError as error:
        first = left = error
    with suppress(YamlError):  # as everybody writes it, so it is no mistake to be told of
        return read_yaml(hint_quoted(front)), []
    plain = _CONTROL.sub("", front)
    for text in (quoted(continued(plain, known)), quoted(plain)):
        try:
            read = read_yaml(text)
        except YamlError as error:
            left = error  # what stays wrong once texts are taken as such
            continue
        line = begins + first.line
        told = f"this is no YAML ({first}) and was read as plain text"
        return read, [Note(line, told, "Put its text in quotes.")]
    raise FrontError(f"its front matter is no YAML: {left}", begins + left.line)


def _unknown(read: Yaml, known: Collection[str], lines: Mapping[str, int]) -> list[Note]:
    strange = [key for key in read.values if key not in known] if known else []
    folded: dict[str, str] = {}
    for each in known if strange else ():  # of several spellings the first
        folded.setdefault(_folded(each), each)
    notes: list[Note] = []
    for key in strange[:NOTES]:
        from difflib import get_close_matches  # noqa: PLC0415  lazy: 3 ms, for a key that is none

        near = get_close_matches(_folded(key), folded, n=1, cutoff=0.75)
        meant = f", did you mean {folded[near[0]]}" if near else ""
        notes.append(Note(lines[key], f"there is no field {key[:60]!r}{meant or ': ignored'}"))
    return notes


def _folded(key: str) -> str:
    return key.lower().replace("-", "").replace("_", "")
