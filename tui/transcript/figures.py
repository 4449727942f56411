"""Numbers as people read them: durations and tokens."""

from __future__ import annotations


def seconds(ms: int) -> str:
    """A duration for people: 340 ms, 12.3 s, 2 min 05 s."""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms // 60_000} min {ms // 1000 % 60:02d} s"


def count(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    if tokens < 1_000_000:
        return f"{tokens / 1000:.1f}k" if tokens < 9_950 else f"{_thousands(tokens)}k"
    return f"{tokens / 1_000_000:.1f}M"


def _thousands(tokens: int) -> int:
    """To the nearest, but never a thousand of them, which are a million."""
    return min(999, (tokens + 500) // 1000)
