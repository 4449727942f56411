"""The part of a long text that people are shown: its head and its tail, by lines and length."""

from __future__ import annotations

HEAD = 30
TAIL = 70
_LINE = 400


def preview(text: str) -> tuple[str, int]:
    """At most HEAD + TAIL lines of bounded length, and how many lines are hidden between."""
    lines = text.split("\n")
    hidden = max(0, len(lines) - HEAD - TAIL)
    if hidden:
        lines = [*lines[:HEAD], f"[... {hidden:,} lines]", *lines[-TAIL:]]
    if len(text) <= _LINE:
        return text, 0
    return "\n".join(line[:_LINE] + ("..." if line[_LINE:] else "") for line in lines), hidden
