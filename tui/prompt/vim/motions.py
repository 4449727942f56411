"""Where vim's motions lead, as pure functions from a text and an offset to an offset."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Motion = Callable[[str, int], int]


def _kind(character: str) -> int:
    """Blank, word or punctuation: words change where the kind does."""
    if character.isspace():
        return 0
    return 1 if character.isalnum() or character == "_" else 2


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """The newline (or end) of the line."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def first_letter(text: str, at: int) -> int:
    start, end = line_start(text, at), line_end(text, at)
    while start < end and text[start].isspace():
        start += 1
    return start


def left(text: str, at: int) -> int:
    return max(line_start(text, at), at - 1)


def right(text: str, at: int) -> int:
    return min(line_end(text, at), at + 1)


def down(text: str, at: int) -> int:
    end = line_end(text, at)
    if end == len(text):
        return at
    return min(end + 1 + at - line_start(text, at), line_end(text, end + 1))


def up(text: str, at: int) -> int:
    start = line_start(text, at)
    if not start:
        return at
    above = line_start(text, start - 1)
    return min(above + at - start, start - 1)


def last_line(text: str, at: int) -> int:
    return line_start(text, max(at, len(text)))


def word(text: str, at: int) -> int:
    """The start of the next word."""
    end = len(text)
    if at < end and _kind(text[at]):
        kind = _kind(text[at])
        while at < end and _kind(text[at]) == kind:
            at += 1
    while at < end and text[at].isspace():
        at += 1
    return at


def back(text: str, at: int) -> int:
    """The start of this word, or of the one before."""
    while at and text[at - 1].isspace():
        at -= 1
    if at:
        kind = _kind(text[at - 1])
        while at and _kind(text[at - 1]) == kind:
            at -= 1
    return at


def word_end(text: str, at: int) -> int:
    """The last character of this word, or of the next."""
    last = len(text) - 1
    at = min(at + 1, max(last, 0))
    while at < last and text[at].isspace():
        at += 1
    while at < last and _kind(text[at + 1]) == _kind(text[at]):
        at += 1
    return at


def find(text: str, at: int, key: str, character: str) -> int:
    """`f`, `F`, `t` and `T` within the line; the offset itself when there is none."""
    if key in "ft":
        found = text.find(character, at + 1, line_end(text, at))
        return at if found < 0 else found - (key == "t")
    found = text.rfind(character, line_start(text, at), at)
    return at if found < 0 else found + (key == "T")


MOTIONS: Mapping[str, Motion] = {
    "h": left,
    "l": right,
    "j": down,
    "k": up,
    "0": line_start,
    "^": first_letter,
    "$": line_end,
    "w": word,
    "b": back,
    "e": word_end,
    "G": last_line,
}
INCLUSIVE = frozenset("e$fFtT") - frozenset("$FT")  # the character arrived at belongs to it
LINEWISE = frozenset("jkG")
