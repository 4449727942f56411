"""How wide text is on a terminal: every measure, cut and fill of the screen goes through here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category

from rich.cells import cell_len, split_graphemes

LOOK = 12  # characters looked at for each cell that is wanted; more only of joined pictures


def width(text: str) -> int:
    """Terminal cells the text occupies, counted by grapheme."""
    if text.isascii():
        return len(text)
    return cell_len(text) + sum(map(_spacing, text))


@lru_cache(4096)
def _spacing(character: str) -> bool:
    """Of scripts such as Devanagari: it goes with a letter, and most terminals give it a cell."""
    return category(character) == "Mc"


def _graphemes(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and cells of each; signs that terminals give a cell of their own have one."""
    for start, end, size in split_graphemes(text)[0]:
        if end - start > 1:
            size += sum(map(_spacing, text[start:end]))
        elif size == 0 and _spacing(text[start]):
            size = 1
        yield start, end, size


def cut(text: str, cells: int) -> int:
    """Index after the last grapheme that still fits in so many cells; at least one grapheme."""
    if len(text) <= cells and text.isascii():
        return len(text)
    near = text[: LOOK * (cells + 1)]
    used = 0
    for start, end, size in _graphemes(near):
        if used + size > cells and start:
            return start
        used += size
        if used > cells:
            return end
    return len(near)


def cuts(text: str, cells: int) -> list[int]:
    """Indexes after each full row of a text without breaks, the last one its length; linear."""
    cells = max(1, cells)
    if text.isascii():
        return [*range(cells, len(text), cells), len(text)]
    found: list[int] = []
    used = 0
    for start, _end, size in _graphemes(text):
        if used + size > cells and used:
            found.append(start)
            used = 0
        used += size
    return [*found, len(text)]


def fit(text: str, cells: int) -> str:
    """The text itself, or its beginning and an ellipsis when it is too wide."""
    if cells <= 0:
        return ""
    if width(text) <= cells:
        return text
    return "…" if cells == 1 else text[: cut(text, cells - 1)].rstrip() + "…"


def fit_middle(text: str, cells: int) -> str:
    """Like `fit`, keeping both ends: for paths, whose last part says most."""
    if width(text) <= cells or cells < 8:
        return fit(text, cells)
    tail = (cells - 1) * 2 // 3
    near = text[-LOOK * cells :]
    spans = list(_graphemes(near))
    start, used = len(text), 0
    while spans and used + spans[-1][2] <= tail:
        used += spans[-1][2]
        start = len(text) - len(near) + spans.pop()[0]
    head = cells - 1 - width(text[start:])
    return f"{text[: cut(text, head)]}…{text[start:]}"


def pad(text: str, cells: int) -> str:
    """The text followed by blanks up to a width."""
    return text + " " * max(0, cells - width(text))
