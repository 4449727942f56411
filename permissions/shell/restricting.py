"""Whether a path rule is about a shell operand: literally, as a glob, or by what is below it."""

from __future__ import annotations

from collections.abc import Iterator

from gatewright.permissions.paths import Paths, absolute, inside, lexical
from gatewright.permissions.patterns import PathPattern, PatternGroup
from gatewright.permissions.rules import Rule
from gatewright.permissions.shell.operands import Operand


def group_hits(group: PatternGroup, operand: Operand, paths: Paths) -> Iterator[Rule]:
    """The rules of a group that are about an operand."""
    if not group.entries:
        return
    arg = operand.arg
    simple = not (arg.patterns or arg.variants or operand.walks or operand.whole)
    if simple and None not in operand.bases:
        readings = {
            reading
            for base in operand.bases
            for reading in paths.locate(arg.text.replace("\0", ""), base).readings
        }
        if not any(map(group.maybe, readings)):
            return
    for rule, pattern in group.entries:
        if operand_hits(pattern, operand, paths):
            yield rule


def operand_hits(pattern: PathPattern, operand: Operand, paths: Paths) -> bool:
    arg = operand.arg
    for base in operand.bases:
        for text in arg.readings:
            if base is None and not text.startswith(("/", "~")):
                if not pattern.anywhere:
                    continue
                base = "/"  # an unknown directory: patterns that match at any depth still do
            if "\0" in text:
                continue
            located = paths.locate(text, base or "/")
            if any(pattern.restricts(reading) for reading in located.readings):
                return True
            if (operand.walks or operand.whole) and _below(pattern, located.readings):
                return True
        if arg.patterns and _glob_hits(pattern, operand, base, paths):
            return True
    return False


def _below(pattern: PathPattern, readings: tuple[str, ...]) -> bool:
    """A directory that is walked, moved or removed reaches what lies below it."""
    if pattern.anywhere:
        return False
    return any(inside(pattern.folded, reading.casefold()) for reading in readings)


def _glob_hits(pattern: PathPattern, operand: Operand, base: str | None, paths: Paths) -> bool:
    for glob in operand.arg.patterns:
        if base is None and not glob.startswith("/"):
            continue
        given = absolute(glob, base or "/", paths.place.home)
        if pattern.could_match(lexical(given)) or pattern.could_match(_resolved(given, paths)):
            return True
        for link in paths.resolver.expand(lexical(given)) or ():
            if any(pattern.matches(reading) for reading in paths.locate(link).readings):
                return True
    return False


def _resolved(glob: str, paths: Paths) -> str:
    """The glob with the directory before its first wildcard resolved."""
    parts = glob.split("/")
    for index, part in enumerate(parts):
        if any(char in part for char in "*?[\\"):
            head = "/".join(parts[:index]) or "/"
            return "/".join((paths.resolver.real(head).rstrip("/"), *parts[index:]))
    return paths.resolver.real(glob)
