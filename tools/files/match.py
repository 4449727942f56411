"""Finds the text an edit means: exactly, else up to quotes, line endings and trailing space, else
up to indentation. A step beyond the exact one counts only if it finds one place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gatewright.tools.files.fs import newline
from gatewright.tools.protocol import ToolFailure


class Span(msgspec.Struct, frozen=True):
    """Replace text[start:end] by `new`."""

    start: int
    end: int
    new: str


class Match(msgspec.Struct, frozen=True):
    spans: tuple[Span, ...]
    step: str = ""  # how it matched when it was not exact


_QUOTES = str.maketrans("\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00a0", "''''\"\"\"\" ")
# A run of blanks is looked at once, from its start: it may be as long as the file.
_LOOSE = re.compile(r"(?<![ \t])(?:[ \t]*+(\r\n|\r|\n)|[ \t]++\Z)")


def find(text: str, old: str, new: str, *, every: bool) -> Match:
    """Where `old` stands in `text`; ToolFailure says why it is nowhere or not unique."""
    starts = _all(text, old)
    if len(starts) > 1 and not every:
        raise ToolFailure(_ambiguous(text, starts))
    if starts:
        return Match(tuple(_exact(text, start, old, new) for start in starts))
    loose = _loosely(text, old, new)
    if len(loose) == 1 or (loose and every):
        return Match(tuple(loose), "up to quotes, line endings and trailing space")
    if loose:
        raise ToolFailure(_ambiguous(text, [span.start for span in loose]))
    indented = _indented(text, old, new)
    if len(indented) == 1:
        return Match(tuple(indented), "up to indentation")
    if indented:
        raise ToolFailure(_ambiguous(text, [span.start for span in indented]))
    raise ToolFailure("old_string is not in the file." + _nearest(text, old))


def apply(text: str, spans: Sequence[Span]) -> str:
    """The text with the spans replaced; they are in order and do not overlap."""
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces += (text[at : span.start], span.new)
        at = span.end
    return "".join([*pieces, text[at:]])


def _all(text: str, old: str) -> list[int]:
    starts: list[int] = []
    at = text.find(old)
    while at >= 0:
        starts.append(at)
        at = text.find(old, at + len(old))
    return starts


def _exact(text: str, start: int, old: str, new: str) -> Span:
    """The span in the line endings of its surroundings, touching only what differs."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    if 0 < head < len(old) and old[head - 1] == "\r":  # keep CR LF together
        head -= 1
    middle = new[head : len(new) - tail]
    return Span(start + head, start + len(old) - tail, _endings(middle, text, start))


def _endings(new: str, text: str, at: int) -> str:
    """`new` with bare line feeds turned into the line ending the file has around `at`."""
    if "\n" not in new or "\r" in new:
        return new
    if "\r" not in text:
        return new
    around = text[max(0, at - 2000) : at + 2000]
    return new.replace("\n", newline(around if "\n" in around or "\r" in around else text))


def _common(a: str, b: str) -> int:
    limit = min(len(a), len(b))
    if a[:limit] == b[:limit]:
        return limit
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class _Canon:
    """Text with straight quotes, line feeds and no trailing space, and the way back."""

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        self._steps: list[tuple[int, int]] = [(0, 0)]  # canonical offset -> original offset
        at = size = 0
        for found in _LOOSE.finditer(text):
            pieces.append(text[at : found.start()])
            size += found.start() - at
            if found[1]:
                self._steps.append((size, found.start()))
                pieces.append("\n")
                size += 1
            self._steps.append((size, found.end()))
            at = found.end()
        pieces.append(text[at:])
        self.text = "".join(pieces).translate(_QUOTES)

    def original(self, offset: int) -> int:
        low, high = 0, len(self._steps) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._steps[middle][0] <= offset:
                low = middle
            else:
                high = middle - 1
        canonical, original = self._steps[low]
        return original + offset - canonical


def _loosely(text: str, old: str, new: str) -> list[Span]:
    whole, wanted = _Canon(text), _Canon(old).text
    if not wanted.strip():
        return []
    target = _Canon(new).text
    spans: list[Span] = []
    for start in _all(whole.text, wanted):
        head = _common(wanted, target)
        tail = _common(wanted[head:][::-1], target[head:][::-1])
        # What old and new have in common keeps the file's own quotes, endings and spaces.
        middle = new if head == tail == 0 else target[head : len(target) - tail]
        first = whole.original(start + head)
        last = whole.original(start + len(wanted) - tail)
        spans.append(Span(first, max(first, last), _endings(middle, text, first)))
    return spans


def _indented(text: str, old: str, new: str) -> list[Span]:
    lines = re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", text)
    wanted = old.replace("\r\n", "\n").strip("\n").split("\n")
    stripped = [line.strip() for line in wanted]
    if not any(stripped):
        return []
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    bare = [line.strip() for line in lines]
    spans: list[Span] = []
    for i in range(len(lines) - len(wanted) + 1):
        if bare[i] != stripped[0] or bare[i : i + len(wanted)] != stripped:
            continue
        shift = _shift(wanted, lines[i : i + len(wanted)])
        if shift is not None:
            end = offsets[i + len(wanted)]
            end -= len(lines[i + len(wanted) - 1]) - len(lines[i + len(wanted) - 1].rstrip("\r\n"))
            moved = _moved(new.replace("\r\n", "\n").strip("\n"), *shift)
            spans.append(Span(offsets[i], end, _endings(moved, text, offsets[i])))
    return spans


def _shift(wanted: Sequence[str], found: Sequence[str]) -> tuple[str, str] | None:
    """The (given, real) indentation if one replacement explains every line, else None."""
    pairs = [
        (_lead(given), _lead(real))
        for given, real in zip(wanted, found, strict=True)
        if given.strip()
    ]
    given, real = min(pairs, key=lambda pair: len(pair[0]))
    for one, other in pairs:
        if other != real + one.removeprefix(given) and not _same_depth(given, real, one, other):
            return None
    return given, real


def _same_depth(given: str, real: str, one: str, other: str) -> bool:
    """Tabs against spaces: the step beyond the shallowest line is whole units on both sides."""
    a, b = one.removeprefix(given), other.removeprefix(real)
    return bool(a) and bool(b) and set(a) != set(b) and len(set(a)) == len(set(b)) == 1


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _moved(new: str, given: str, real: str) -> str:
    return "\n".join(
        real + line.removeprefix(given) if line.strip() and line.startswith(given) else line
        for line in new.split("\n")
    )


def line_of(text: str, at: int) -> int:
    """The 1-based number of the line that holds offset `at`."""
    head = text[:at]
    return 1 + head.count("\n") + head.count("\r") - head.count("\r\n")


def _ambiguous(text: str, starts: Sequence[int]) -> str:
    lines = ", ".join(str(line_of(text, at)) for at in starts[:10])
    more = ", ..." if len(starts) > 10 else ""
    return (
        f"old_string is there {len(starts)} times (lines {lines}{more}). Give more of the lines"
        " around the one you mean, or set replace_all."
    )


def _nearest(text: str, old: str) -> str:
    """The lines most like what was looked for, with their numbers."""
    from rapidfuzz import fuzz  # noqa: PLC0415  lazy: 15 ms, only when an edit fails

    sample = old[:2000]
    if len(text) > 4_000_000 or not sample.strip():
        return " Read the file again to see what is there."
    best = fuzz.partial_ratio_alignment(sample, text, score_cutoff=60)
    if best is None or best.dest_start == best.dest_end:
        return " Nothing in it is like it; read the file again."
    first = line_of(text, best.dest_start)
    count = sample.count("\n") + 1
    lines = re.split(r"\r\n|\n|\r", text)[first - 1 : first - 1 + min(count, 12)]
    shown = "\n".join(f"{first + i:6}\t{line[:300]}" for i, line in enumerate(lines))
    return f" The nearest text is:\n{shown}"
