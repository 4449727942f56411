"""Colours for code, line by line: comments, strings, numbers and keywords, and nothing more.

The state after a line is the only thing the next one needs, so code can be coloured while it
streams and from the middle; an unknown language stays plain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from gatewright.tui.blocks.languages import ALIASES, LANGUAGES, Language
from gatewright.tui.line import Span

MAX_LINE = 2000  # a longer line is data, not code
KEPT = 128  # lines: the end of a fence that streams is drawn again with each further one
DIFF = "diff"
_DIFF = {"+": "good", "-": "error", "@": "accent"}  # by the first character of a line


@dataclass(frozen=True)
class _Rules:
    """One pattern for a line's start state, and the closing one of each multi-line opener."""

    scan: re.Pattern[str]
    closers: dict[str, tuple[str, re.Pattern[str]]]
    keywords: frozenset[str]
    ignore_case: bool


@lru_cache(maxsize=32)
def _rules(name: str) -> _Rules | None:
    language = LANGUAGES.get(name)
    return _compile(language) if language else None


def _compile(language: Language) -> _Rules:
    openers: dict[str, tuple[str, re.Pattern[str]]] = {}
    for start, stop in language.block_comments:
        openers[start] = ("comment", re.compile(re.escape(stop)))
    for quote in language.long_strings:
        openers[quote] = (
            "string",
            re.compile(r"(?:\\.|(?!" + re.escape(quote) + r").)*?" + re.escape(quote)),
        )
    parts = [f"(?P<open>{'|'.join(re.escape(o) for o in openers)})"] if openers else []
    if language.line_comments:
        parts.append(f"(?P<comment>{'|'.join(language.line_comments)})")
    if language.quotes:
        each = (rf"{q}(?:\\.|[^{q}\\])*(?:{q}|$)" for q in language.quotes)
        parts.append(f"(?P<string>{'|'.join(each)})")
    parts.append(r"(?P<number>(?<![\w-])\d[\w.]*\b)")
    parts.append(r"(?P<word>[A-Za-z_@$][\w-]*)" if language.dashes else r"(?P<word>[A-Za-z_@$]\w*)")
    return _Rules(
        re.compile("|".join(parts)),
        openers,
        frozenset(language.keywords.split()),
        language.ignore_case,
    )


def language_of(name: str) -> str:
    """The canonical language for a fence label or a file name; empty when it is unknown."""
    label = name.strip().lower().rpartition("/")[2]
    label = label.rpartition(".")[2] or label
    label = ALIASES.get(label, label)
    return label if label in LANGUAGES else ""


@lru_cache(maxsize=KEPT)
def highlight(text: str, language: str, state: str = "") -> tuple[tuple[Span, ...], str]:
    """The coloured spans of one line and the state for the next one."""
    rules = _rules(language) if language and language != DIFF else None
    if rules is None or len(text) > MAX_LINE:
        return (Span(text, _DIFF.get(text[:1], "text") if language == DIFF else "text"),), state
    spans: list[Span] = []
    at = 0
    if state:
        at = _close(text, 0, state, rules, spans)
        if at < 0:
            return tuple(spans), state
        state = ""
    while match := rules.scan.search(text, at):
        if match.start() > at:
            spans.append(Span(text[at : match.start()]))
        kind = match.lastgroup
        if kind == "open":
            opener = match[0]
            role = rules.closers[opener][0]
            spans.append(Span(opener, role))
            at = _close(text, match.end(), opener, rules, spans)
            if at < 0:
                return tuple(spans), opener
            continue
        if kind == "comment":
            spans.append(Span(text[match.start() :], "comment"))
            return tuple(spans), state
        spans.append(Span(match[0], _role(kind, match[0], rules)))
        at = match.end()
    if at < len(text) or not spans:
        spans.append(Span(text[at:]))
    return tuple(spans), state


def _role(kind: str | None, word: str, rules: _Rules) -> str:
    if kind == "word":
        key = word.lower() if rules.ignore_case else word
        return "keyword" if key in rules.keywords or word.startswith("@") else "text"
    return kind or "text"


def _close(text: str, at: int, opener: str, rules: _Rules, spans: list[Span]) -> int:
    """Append up to the end of a multi-line piece; its end, or -1 when it goes on."""
    role, closer = rules.closers[opener]
    match = closer.search(text, at) if role == "comment" else closer.match(text, at)
    if match is None:
        if at < len(text):
            spans.append(Span(text[at:], role))
        return -1
    spans.append(Span(text[at : match.end()], role))
    return match.end()
