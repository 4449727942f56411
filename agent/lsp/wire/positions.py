"""Places in texts: addresses of files, and columns as a server counts them and as people do.

People and models count characters from 1; servers count UTF-16 or UTF-8 units from 0.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from urllib.parse import quote, unquote, urlsplit

from gatewright.agent.lsp.wire.shapes import Range

_ENDS = re.compile(r"\r\n|\n|\r")
_SAFE = "/-._~!$&'()*+,;=@"


def uri_of(path: str) -> str:
    return "file://" + quote(path, safe=_SAFE)


def path_of(uri: str) -> str:
    """The absolute path; empty where it is none of this machine's files."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path, errors="surrogateescape")
    return path if path.startswith("/") and "\0" not in path else ""


class Lines:
    """A text by its lines, as the protocol ends them."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text, self._encoding = text, encoding
        self._starts = [0, *(found.end() for found in _ENDS.finditer(text))]

    @property
    def count(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """Without its end; empty beyond the last."""
        if not 0 <= number < len(self._starts):
            return ""
        last = number + 1 == len(self._starts)
        end = len(self.text) if last else self._starts[number + 1]
        return self.text[self._starts[number] : end].rstrip("\r\n")

    def units(self, number: int, column: int) -> int:
        """The server's count for so many characters of the line."""
        return _size(self.line(number)[:column], self._encoding)

    def column(self, number: int, units: int) -> int:
        """How many characters of the line those units are."""
        return _characters(self.line(number), units, self._encoding)

    def offset(self, number: int, units: int) -> int:
        """Where in the text that is; the end for what lies beyond it."""
        if number >= len(self._starts):
            return len(self.text)
        return self._starts[max(0, number)] + self.column(number, units)

    def at(self, offset: int) -> int:
        """The line that holds the character."""
        return bisect.bisect_right(self._starts, offset) - 1

    def span(self, range: Range) -> tuple[int, int]:
        start, end = range.start, range.end
        return self.offset(start.line, start.character), self.offset(end.line, end.character)


def _size(text: str, encoding: str) -> int:
    if text.isascii() or encoding == "utf-32":
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def _characters(line: str, units: int, encoding: str) -> int:
    if line.isascii() or encoding == "utf-32":
        return max(0, min(units, len(line)))
    seen = 0
    for number, character in enumerate(line):
        if seen >= units:
            return number
        seen += _size(character, encoding)
    return len(line)


def edited(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    """The text with these parts replaced. ValueError where two of them overlap."""
    pieces: list[str] = []
    at = 0
    for start, end, new in sorted(spans, key=lambda span: span[:2]):
        if start < at or end < start:
            raise ValueError("its changes overlap")
        pieces += (text[at:start], new)
        at = end
    return "".join([*pieces, text[at:]])
