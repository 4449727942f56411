"""How wide text is on a terminal: every measure, cut and fill of the screen goes through here."""

from __future__ import annotations

from rich.cells import cell_len, split_graphemes


def width(text: str) -> int:
    """Terminal cells the text occupies, counted by grapheme."""
    return cell_len(text)


def cut(text: str, cells: int) -> int:
    """Index after the last grapheme that still fits in so many cells; at least one grapheme."""
    if len(text) <= cells and text.isascii():
        return len(text)
    used = 0
    for start, end, size in split_graphemes(text)[0]:
        if used + size > cells and start:
            return start
        used += size
        if used > cells:
            return end
    return len(text)


def cuts(text: str, cells: int) -> list[int]:
    """Indexes after each full row of a text without breaks, the last one its length; linear."""
    cells = max(1, cells)
    if text.isascii():
        return [*range(cells, len(text), cells), len(text)]
    found: list[int] = []
    used = 0
    for start, _end, size in split_graphemes(text)[0]:
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
    start = len(text)
    while start and width(text[start - 1 :]) <= tail:
        start -= 1
    head = cells - 1 - width(text[start:])
    return f"{text[: cut(text, head)]}…{text[start:]}"


def pad(text: str, cells: int) -> str:
    """The text followed by blanks up to a width."""
    return text + " " * max(0, cells - width(text))
