"""Which words of two lines differ, so that a small change in a long line stands out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from gatewright.tui.line import Span, slice_spans

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
LONGEST = 400  # characters; in a longer line nobody looks for a word
ALIKE = 0.5  # share of a line that stayed: of less, all of it is another line


class Part(NamedTuple):
    """Characters from `start` to `end` are other ones than before."""

    start: int
    end: int


def changed(old: str, new: str) -> tuple[list[Part], list[Part]]:
    """What of the old line is gone, what of the new one came; nothing where little stayed."""
    if max(len(old), len(new)) > LONGEST:
        return [], []
    a, b = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    kept = sum(len("".join(a[m.a : m.a + m.size]).strip()) for m in matcher.get_matching_blocks())
    if kept < ALIKE * max(len(old.strip()), len(new.strip()), 1):
        return [], []
    gone: list[Part] = []
    came: list[Part] = []
    at = _starts(a), _starts(b)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag != "equal":
            if a2 > a1:
                gone.append(Part(at[0][a1], at[0][a2]))
            if b2 > b1:
                came.append(Part(at[1][b1], at[1][b2]))
    return gone, came


def _starts(words: Sequence[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def over(spans: Sequence[Span], ground: str, parts: Sequence[Part]) -> tuple[Span, ...]:
    """The spans on a ground, the parts on the stronger one of it."""
    end = sum(len(span.text) for span in spans)
    made: list[Span] = []
    at = 0
    for part in (*parts, Part(end, end)):
        made += (_on(span, ground) for span in slice_spans(spans, at, part.start))
        made += (_on(span, f"{ground}.word") for span in slice_spans(spans, part.start, part.end))
        at = part.end
    return tuple(made)


def _on(span: Span, ground: str) -> Span:
    name, _, attributes = span.role.partition(":")
    front = ground if name == "text" else f"{name}+{ground}"
    return span._replace(role=f"{front}:{attributes}" if attributes else front)
