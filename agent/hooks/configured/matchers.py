"""What a matcher is about: a list of exact names, or an unanchored regex as JavaScript reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from gatewright.agent.hooks.events import ALIASES, Row
from gatewright.agent.text.in_time import Late, in_time

Matches: TypeAlias = Callable[[str], bool]
LONGEST = 1_000  # characters of a pattern
SEEN = 512  # characters of a value that a pattern looks at
CHOICES = "*+?{|"  # with one of these a pattern comes to an end soon
MOST = 0.1  # seconds of work that a pattern may take
_NAMES = re.compile(r"[A-Za-z0-9_\-,| ]*")
_RULE = re.compile(r"[A-Za-z_]\w*\(.*\)", re.DOTALL)
_ESCAPED = re.compile(
    r"\\(?:k<(\w+)>|u\{([0-9A-Fa-f]{1,6})\}|(.))|(\[\^\])|(\[\])|(\(\?<)(?=[A-Za-z_$])", re.DOTALL
)
_IN_CLASS = {"A", "Z", "a", "z", "e", "g", "h", "i", "j", "k", "l", "m", "o", "p", "q", "y"}


class BadMatcher(ValueError):
    """It is no list of names and no regex; the text says why."""


def looks_like_rule(text: str) -> bool:
    """`Bash(git *)` is a rule, for `if`; as a matcher it means something else."""
    return _RULE.fullmatch(text.strip()) is not None and "|" not in text


def names_of(text: str, row: Row) -> tuple[str, ...] | None:
    """The names that a matcher lists; None where it is a pattern or means everything."""
    if text.strip() in ("", "*"):
        return None
    if row.names:
        return tuple(filter(None, (name.strip() for name in text.split("|"))))
    if _NAMES.fullmatch(text) is None:
        return None
    return tuple(filter(None, (name.strip() for name in re.split(r"[|,]", text))))


@lru_cache(maxsize=1024)
def compiled(text: str, row: Row) -> Matches:
    """Raises BadMatcher."""
    if text.strip() in ("", "*"):
        return lambda _: True
    names = names_of(text, row)
    if names is not None:
        if row.names and not row.known:
            wanted = frozenset(names)
            return lambda value: value in wanted or value.rpartition("/")[2] in wanted
        folded = frozenset(_folded(name, row) for name in names)
        return lambda value: _folded(value, row) in folded
    if len(text) > LONGEST:
        raise BadMatcher(f"is longer than {LONGEST} characters")
    try:
        pattern = re.compile(in_python(text), re.ASCII | (re.IGNORECASE if row.tool else 0))
    except (re.error, RecursionError, OverflowError, ValueError) as error:
        raise BadMatcher(f"is no regular expression: {error}") from error
    if row.tool:
        return lambda value: any(_found(pattern, name) for name in _names(value[:SEEN]))
    return lambda value: _found(pattern, value[:SEEN])


def _found(pattern: re.Pattern[str], value: str) -> bool:
    """Whether it is in there; also where that cannot be said in time, since the hook may forbid it.

    Some patterns take a lifetime for a name that another wrote; only a signal gets them to stop.
    """
    soon = sum(map(pattern.pattern.count, CHOICES)) < 2
    if soon:
        return pattern.search(value) is not None
    try:
        return in_time(lambda: pattern.search(value) is not None, MOST)
    except Late:
        return True


def _folded(name: str, row: Row) -> str:
    low = name.lower()
    return ALIASES.get(low, low) if row.tool else name


def _names(value: str) -> tuple[str, ...]:
    """A tool under the names that it has and had."""
    low = value.lower()
    return (value, *(old for old, new in ALIASES.items() if new == low))


def in_python(text: str) -> str:
    """A JavaScript pattern without flags, as Python writes it."""
    found: list[str] = []
    at, inside = 0, False
    while at < len(text):
        match = _ESCAPED.match(text, at)
        char = text[at]
        if match is not None and (char == "\\" or not inside):
            found.append(_piece(match, inside=inside))
            at = match.end()
            continue
        if char == "[" and inside:
            found.append("\\[")
        elif char == "$" and not inside:
            found.append("\\Z")  # there it is the very end, without a line break before it
        else:
            found.append(char)
        inside = char != "]" and (inside or char == "[")
        at += 1
    return "".join(found)


def _piece(match: re.Match[str], *, inside: bool) -> str:
    name, code, escaped, anything, nothing, group = match.groups()
    if name is not None:
        return f"(?P={name})"
    if code is not None:
        return re.escape(chr(min(int(code, 16), 0x10FFFF)))
    if anything is not None:
        return "[\\s\\S]"
    if nothing is not None:
        return "(?!)"
    if group is not None:
        return "(?P<"
    if escaped in _IN_CLASS or (inside and escaped == "B"):
        return escaped  # an escape of Python's alone
    return f"\\{escaped}"
