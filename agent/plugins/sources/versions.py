"""Versions of packages: their order, and which one of many a range means, as npm reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

Version: TypeAlias = tuple[int, int, int, str]  # the last is what comes before a release
_VERSION: Final = re.compile(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]+))?(?:\+\S+)?")
_PART: Final = re.compile(
    r"(\^|~>?|>=|<=|>|<|=)?\s*v?(\d{1,9}|[xX*])(?:\.(\d{1,9}|[xX*]))?(?:\.(\d{1,9}|[xX*]))?"
    r"(?:-([0-9A-Za-z.-]+))?(?:\+\S+)?"
)
_LONG: Final = 200
Test: TypeAlias = Callable[[Version], bool]


def parsed(text: str) -> Version | None:
    found = _VERSION.fullmatch(text.strip()) if len(text) <= _LONG else None
    return (int(found[1]), int(found[2]), int(found[3]), found[4] or "") if found else None


def order(version: Version) -> tuple[object, ...]:
    """For sorting: what comes before a release sorts before it, numbers by their value."""
    parts = [
        (0, int(part), "") if part.isdigit() else (1, 0, part)
        for part in version[3].split(".")
        if part
    ]
    return (*version[:3], 0 if parts else 1, parts)


def newer(one: str, other: str) -> bool:
    """Whether `one` is a later version; False where either is none."""
    first, second = parsed(one), parsed(other)
    return first is not None and second is not None and order(first) > order(second)


def only_patch(old: str, new: str) -> bool:
    """Whether nothing but the last number grew, and both are releases."""
    first, second = parsed(old), parsed(new)
    if first is None or second is None or first[3] or second[3]:
        return False
    return first[:2] == second[:2] and second[2] > first[2]


def best(wanted: str, versions: Iterable[str]) -> str:
    """The latest version that the range allows; empty where none does, or it is no range."""
    found: list[tuple[tuple[object, ...], str]] = []
    tests = [*_ranges(wanted)]
    for text in versions:
        version = parsed(text)
        if version is not None and any(_allows(test, version) for test in tests):
            found.append((order(version), text))
    return max(found)[1] if found else ""


def _allows(
    range_: tuple[tuple[Test, ...], frozenset[tuple[int, int, int]]], version: Version
) -> bool:
    tests, early = range_
    return all(test(version) for test in tests) and (not version[3] or version[:3] in early)


def _ranges(text: str) -> Iterator[tuple[tuple[Test, ...], frozenset[tuple[int, int, int]]]]:
    """The tests of each alternative, and for which numbers it takes what comes before a release."""
    if len(text) > _LONG:
        return
    for alternative in text.split("||"):
        words = re.sub(r"(\^|~>?|>=|<=|>|<|=)\s+", r"\1", alternative).split()
        if len(words) == 3 and words[1] == "-":
            words = [f">={words[0]}", f"<={words[2]}"]
        parts = [_PART.fullmatch(word) for word in words or ["*"]]
        if any(part is None for part in parts):
            continue
        tests: list[Test] = []
        early = set[tuple[int, int, int]]()
        for part in parts:
            assert part is not None
            tests += _tests(part)
            if part[5]:
                early.add((_number(part[2]), _number(part[3]), _number(part[4])))
        yield tuple(tests), frozenset(early)


def _tests(part: re.Match[str]) -> list[Test]:
    sign = part[1] or ""
    given = [_number(each) for each in part.group(2, 3, 4) if each and each not in "xX*"]
    low = order((*_filled(given), part[5] or ""))
    if sign in ("<", "<=", ">"):
        return _one_sided(sign, given, low)
    if not sign or sign == "=":
        exact = len(given) == 3
        return [lambda v: order(v) == low] if exact else [_least(low), *_below(given, -1)]
    place = len(given) - 1  # of the number that must not grow
    if sign == "^":
        place = next((at for at, number in enumerate(given) if number), place)
    elif sign != ">=":
        place = min(place, 1)
    return [_least(low), *([] if sign == ">=" else _below(given, place))]


def _one_sided(sign: str, given: list[int], low: tuple[object, ...]) -> list[Test]:
    if sign == "<":
        return [lambda v: order(v) < low]
    if sign == ">":
        high = _after(given, -1) if 0 < len(given) < 3 else None
        return [_least(high)] if high else [lambda v: order(v) > low]
    return [lambda v: order(v) <= low] if len(given) == 3 else _below(given, -1)


def _least(low: tuple[object, ...]) -> Test:
    return lambda v: order(v) >= low


def _below(given: list[int], place: int) -> list[Test]:
    """Before the number at this place grows."""
    if not given:
        return []
    high = _after(given, place)
    return [lambda v: order(v) < high]


def _after(given: list[int], place: int) -> tuple[object, ...]:
    kept = given[: place % len(given) + 1]
    raised = [*kept[:-1], kept[-1] + 1]
    return (*_filled(raised), 0, [])


def _filled(given: list[int]) -> tuple[int, int, int]:
    first, second, third = [*given, 0, 0, 0][:3]
    return first, second, third


def _number(text: str | None) -> int:
    return int(text) if text and text not in "xX*" else 0
