"""Braces in patterns of rules and settings: counted before they are expanded, whatever they hold.

A pattern of too many alternatives is wrong where it is read: what it would cost later, in time and
memory, is not known to who wrote it.
"""

from __future__ import annotations

from gatewright.tools.system.patterns import later

MOST = 200
_GROUPS = 64
_RANGE = later(r"(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?")
TOO_MANY = f"has more than {MOST} alternatives in braces"


def wrong(pattern: str) -> str:
    """What is wrong with the braces of a pattern, or nothing."""
    return TOO_MANY if expanded(pattern) is None else ""


def expanded(pattern: str, *, keep_escapes: bool = False) -> list[str] | None:
    """Every alternative; None where `wrong` says that there are too many."""
    if "{" not in pattern:
        return [pattern]
    if pattern.count("{") > _GROUPS or _count(pattern) > MOST:
        return None  # what expands them recurses, and would begin before it finds out
    import bracex  # noqa: PLC0415  lazy: 12 ms, few patterns have braces

    try:
        return bracex.expand(pattern, keep_escapes=keep_escapes, limit=MOST)
    except bracex.ExpansionLimitException:
        return None


def _count(pattern: str) -> int:
    """About how many there are; an open brace without its end is counted as if it had one."""
    open_groups: list[tuple[int, int, int]] = []  # alternatives so far, the factor, the start
    alternatives, factor, start = 0, 1, 0
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif char == "{":
            open_groups.append((alternatives, factor, start))
            alternatives, factor, start = 0, 1, index + 1
        elif char == "," and open_groups:
            alternatives, factor = alternatives + factor, 1
        elif char == "}" and open_groups:
            inside = max(alternatives + factor, _steps(pattern[start:index]))
            alternatives, factor, start = open_groups.pop()
            factor *= inside
        if factor > MOST or alternatives > MOST:
            return MOST + 1
        index += 1
    while open_groups:
        inside = alternatives + factor
        alternatives, factor, _ = open_groups.pop()
        factor *= inside
    return alternatives + factor


def _steps(inside: str) -> int:
    """How many a sequence such as 1..9 or a..z..2 stands for."""
    found = _RANGE.fullmatch(inside)
    if found is None:
        return MOST + 1 if ".." in inside and _LONG.fullmatch(inside) else 1
    first, last = (_number(text) for text in found.group(1, 2))
    return abs(last - first) // max(1, abs(int(found.group(3) or 1))) + 1


_LONG = later(r"[-\d.]+")


def _number(text: str) -> int:
    return ord(text) if text.isalpha() else int(text)
