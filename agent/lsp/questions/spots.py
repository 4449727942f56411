"""Places in files as a model reads them: with a few lines of code where it may read the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

import msgspec

from gatewright.agent.agents.inert_text import as_data
from gatewright.agent.lsp.texts import Text, disk_text
from gatewright.agent.lsp.wire.positions import Lines, path_of
from gatewright.agent.lsp.wire.shapes import Range
from gatewright.tools.system.exact import real_path
from gatewright.tools.system.untyped_json import items, obj

AROUND, LINE = 1, 200  # lines before and behind the place; characters of each
SHOWN, LISTED = 20, 200  # places with their code; places at all
TEXT = 4000


class Sight(msgspec.Struct, frozen=True):
    """What the caller may see: `readable` is the rules' word, `inside` the project."""

    readable: Callable[[str], bool]
    inside: Callable[[str], bool]
    shown: Callable[[str], str]
    text: Callable[[str], Text | None] = disk_text  # as servers have it


class Spot(msgspec.Struct, frozen=True):
    path: str
    range: Range
    note: str = ""


class Spots(msgspec.Struct, frozen=True):
    """Those that may be told, and how many may not."""

    found: tuple[Spot, ...] = ()
    denied: int = 0
    elsewhere: int = 0  # of no file of this machine

    def left_out(self) -> str:
        parts: list[str] = []
        if self.denied:
            parts.append(f"{self.denied} in files that a Read rule denies left out")
        if self.elsewhere:
            parts.append(f"{self.elsewhere} in no file of this machine left out")
        return f"({'; '.join(parts)})" if parts else ""


def spots(found: Iterable[tuple[str, Range, str]], sight: Sight) -> Spots:
    """Of addresses that a server gave: real paths, those that are denied counted alone."""
    kept: dict[tuple[str, int, int], Spot] = {}
    denied = elsewhere = 0
    seen: dict[str, tuple[str, bool]] = {}
    for uri, range, note in found:
        if uri not in seen:
            path = path_of(uri)
            path = real_path(path) if path else ""
            seen[uri] = path, bool(path) and sight.readable(path)
        path, may = seen[uri]
        if not path:
            elsewhere += 1
        elif not may:
            denied += 1
        else:
            kept.setdefault(
                (path, range.start.line, range.start.character), Spot(path, range, note)
            )
    return Spots(tuple(kept.values()), denied, elsewhere)


class Pages:
    """Texts of files, each read once for an answer; of what lies outside nothing is read."""

    def __init__(self, sight: Sight, encoding: str) -> None:
        self._sight, self._encoding = sight, encoding
        self._read: dict[str, Lines | None] = {}

    def of(self, path: str) -> Lines | None:
        if path not in self._read:
            may = self._sight.inside(path) and len(self._read) < LISTED
            found = self._sight.text(path) if may else None
            self._read[path] = Lines(found[0], self._encoding) if found is not None else None
        return self._read[path]

    def column(self, spot: Spot) -> int:
        start, lines = spot.range.start, self.of(spot.path)
        return (lines.column(start.line, start.character) if lines else start.character) + 1

    def code(self, spot: Spot) -> list[str]:
        lines = self.of(spot.path)
        if lines is None:
            return []
        at = spot.range.start.line
        first, last = max(0, at - AROUND), min(lines.count - 1, at + AROUND)
        return [f"  {number + 1:>5}  {lines.line(number)[:LINE]}" for number in range_(first, last)]


def range_(first: int, last: int) -> Sequence[int]:
    return range(first, last + 1)


def told_places(found: Spots, pages: Pages, sight: Sight) -> str:
    """Each place with the lines around it; the first ones, and how many more there are."""
    rows: list[str] = []
    for spot in found.found[:SHOWN]:
        line = spot.range.start.line + 1
        rows.append(f"{sight.shown(spot.path)}:{line}:{pages.column(spot)}{spot.note}")
        rows += pages.code(spot)
    more = len(found.found) - SHOWN
    rows += [f"and {more} more"] if more > 0 else []
    rows += [left] if (left := found.left_out()) else []
    return inert("\n".join(rows), 12_000)


def told_by_file(found: Spots, pages: Pages, sight: Sight) -> str:
    """References, file by file: line, column and the line itself, and counts of the rest."""
    files: dict[str, list[Spot]] = {}
    for spot in sorted(
        found.found, key=lambda s: (s.path, s.range.start.line, s.range.start.character)
    ):
        files.setdefault(spot.path, []).append(spot)
    rows = [f"{len(found.found)} in {len(files)} {'file' if len(files) == 1 else 'files'}"]
    left = LISTED
    for path, each in files.items():
        if left <= 0:
            break
        rows.append(f"{sight.shown(path)} ({len(each)}):")
        lines = pages.of(path)
        for spot in each[:left]:
            at = spot.range.start.line
            code = lines.line(at).strip()[:LINE] if lines is not None else ""
            rows.append(f"  {at + 1}:{pages.column(spot)}{spot.note}  {code}".rstrip())
        left -= len(each)
    if left < 0:
        rows.append(f"and {-left} more in the files above and others: narrow the question")
    rows += [out] if (out := found.left_out()) else []
    return inert("\n".join(rows), 24_000)


def inert(text: str, most: int = TEXT) -> str:
    """A server's words, or a file's: data, and no more than so much of it."""
    cut = text if len(text) <= most else f"{text[:most]}\n[cut: {len(text):,} characters in all]"
    return as_data(cut)[0]


def plain_hover(contents: object) -> str:
    """Of the three shapes that a hover can have."""
    if isinstance(contents, str):
        return contents
    if isinstance(contents, list):
        return "\n\n".join(filter(None, map(plain_hover, items(cast("object", contents)))))
    value = obj(contents).get("value")
    return value if isinstance(value, str) else ""
