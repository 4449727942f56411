"""What an agent is told of its changes: new findings and solved ones, bounded and made inert.

A finding is the same at another line: a line that was put in front of it is no news.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.lsp.findings.fresh import Items
from gatewright.agent.lsp.wire.positions import Lines
from gatewright.agent.lsp.wire.shapes import ERROR, WARNING, Diagnostic

A_FILE, IN_ALL, CHARACTERS, MESSAGE = 10, 30, 4000, 300
LEAD = "Notice of this program: diagnostics of language servers after the last changes (data)."
_WEIGHTS = ("", "error", "warning", "information", "hint")
Same: TypeAlias = "Counter[tuple[int, str, str, str]]"


class Findings(msgspec.Struct, frozen=True):
    """Of one file by one server: what it found now, and what was known before."""

    path: str
    shown: str
    server: str
    items: Items
    known: Same | None
    own: bool = True  # the agent changed the file itself

    def new(self) -> list[Diagnostic]:
        """Without a known state only errors are; of other files only errors ever are."""
        most = WARNING if self.own and self.known is not None else ERROR
        left = Counter(self.known or ())
        found: list[Diagnostic] = []
        for item in ordered(self.items):
            if left[item.same] > 0:
                left[item.same] -= 1
            elif item.weight <= most:
                found.append(item)
        return found

    def solved(self) -> int:
        gone = Counter(self.known or ()) - counted(self.items)
        return sum(count for same, count in gone.items() if same[0] <= WARNING)


class Told(msgspec.Struct, frozen=True, kw_only=True):
    text: str  # for the model
    summary: str  # for people, in a line
    errors: int
    warnings: int
    solved: int
    files: tuple[str, ...]


def counted(items: Iterable[Diagnostic]) -> Same:
    return Counter(item.same for item in items)


def ordered(items: Items) -> list[Diagnostic]:
    """The gravest first, then as they stand in the file."""
    return sorted(items, key=lambda each: (each.weight, _place(each)))


def _place(item: Diagnostic) -> tuple[int, int]:
    return item.range.start.line, item.range.start.character


def row(item: Diagnostic, lines: Lines | None, server: str) -> str:
    """One finding in a line: where, how grave, what, whose word it is."""
    start = item.range.start
    column = lines.column(start.line, start.character) if lines is not None else start.character
    code = f" [{in_line(item.named)}]" if item.named else ""
    said = in_line(item.message[: MESSAGE * 2])[:MESSAGE] or "(no message)"
    source = in_line((item.source or server)[:40])
    return f"{start.line + 1}:{column + 1} {_WEIGHTS[item.weight]}{code}: {said} ({source})"


def tell(found: Sequence[Findings], lines: Callable[[Findings], Lines | None]) -> Told | None:
    """All of it as one text; None where nothing is new and nothing solved."""
    news = [(each, each.new(), each.solved()) for each in found]
    news = [each for each in news if each[1] or each[2]]
    if not news:
        return None
    news.sort(key=lambda each: (not each[0].own, each[0].shown))
    text, left, size = [LEAD], IN_ALL, len(LEAD)
    for findings, new, _ in news:
        rows: list[str] = []
        where = lines(findings) if new else None
        for item in new[: min(A_FILE, left)]:
            line = f"  {row(item, where, findings.server)}"
            if size + len(line) > CHARACTERS - 200:
                left = 0
                break
            rows.append(line)
            size += len(line) + 1
        left -= len(rows)
        if new and (rows or left > 0):
            more = len(new) - len(rows)
            text += [f"{in_line(findings.shown)[:300]}:", *rows]
            text += [f"  and {more} more"] if more else []
            size += min(len(findings.shown), 300) + 20
    shown = sum(1 for each in news if each[1])
    listed = sum(1 for line in text if line.endswith(":") and not line.startswith("  "))
    if shown > listed:
        text.append(f"and {shown - listed} more files with new findings")
    return _told(text, news)


def _told(text: list[str], news: Sequence[tuple[Findings, list[Diagnostic], int]]) -> Told:
    new = [item for _, items, _ in news for item in items]
    errors = sum(item.weight == ERROR for item in new)
    solved = sum(each[2] for each in news)
    if solved:
        where = ", ".join(dict.fromkeys(in_line(each.shown)[:200] for each, _, n in news if n))
        left = sum(item.weight == ERROR for each, _, _ in news for item in each.items)
        text.append(
            f"{solved} solved in {where[:400]}; {left or 'no'} {_plural('error', left)} left."
        )
    parts = [(errors, "error"), (len(new) - errors, "warning")]
    words = [f"{count} {_plural(word, count)}" for count, word in parts if count]
    return Told(
        text="\n".join(text)[:CHARACTERS],
        summary=", ".join([*words, *([f"{solved} solved"] if solved else [])]),
        errors=errors,
        warnings=len(new) - errors,
        solved=solved,
        files=tuple(dict.fromkeys(each.shown for each, _, _ in news))[:50],
    )


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
