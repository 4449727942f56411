"""Structured hunks between two texts, for people; linear for large files with a small change."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from gatewright.tools.blocks import Diff, Hunk
from gatewright.tools.inert import visible
from gatewright.tools.system.patterns import later

CONTEXT = 3
_LINE = later(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_LINES_SHOWN = 2000  # a diff is kept with the session: beyond, only the counts are right
_LINES_FOR_DIFFLIB = 3000  # difflib is quadratic: above, the differing middle is one hunk


def diff(path: str, old: str, new: str) -> Diff:
    """The change from `old` to `new` as a block, with made-inert lines."""
    before, after = _lines(old), _lines(new)
    head = _common(before, after)
    rest_before, rest_after = before[head:], after[head:]
    tail = _common(rest_before[::-1], rest_after[::-1])
    a = rest_before[: len(rest_before) - tail]
    b = rest_after[: len(rest_after) - tail]
    start = max(0, head - CONTEXT)
    lead = before[start:head]
    trail = before[len(before) - tail :][:CONTEXT]
    hunks: list[Hunk] = []
    added = removed = 0
    for group in _groups([*lead, *a, *trail], [*lead, *b, *trail]):
        old_at, new_at, lines = group
        room = _LINES_SHOWN - sum(len(hunk.lines) for hunk in hunks)
        shown = lines[:room]
        if len(shown) < len(lines) and room > 0:
            shown.append(f" [{len(lines) - room:,} more lines]")
        if shown:
            hunks.append(Hunk(start + old_at + 1, start + new_at + 1, tuple(shown)))
        added += sum(line.startswith("+") for line in lines)
        removed += sum(line.startswith("-") for line in lines)
    return Diff(path=path, hunks=tuple(hunks), added=added, removed=removed)


def _lines(text: str) -> list[str]:
    """Lines with their ends, so that a change of only the line ending is a change."""
    return _LINE.findall(text)


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    count = 0
    for one, two in zip(a, b, strict=False):
        if one != two:
            break
        count += 1
    return count


def _groups(a: list[str], b: list[str]) -> Iterator[tuple[int, int, list[str]]]:
    if a == b:
        return
    if len(a) + len(b) > _LINES_FOR_DIFFLIB:
        yield 0, 0, [*_marked("-", a), *_marked("+", b)]
        return
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        lines: list[str] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += _marked(" ", a[i1:i2])
            else:
                lines += [*_marked("-", a[i1:i2]), *_marked("+", b[j1:j2])]
        yield group[0][1], group[0][3], lines


def _marked(mark: str, lines: Sequence[str]) -> list[str]:
    return [mark + _bare(line) for line in lines]


def _bare(line: str) -> str:
    return visible(line.rstrip("\r\n"))
