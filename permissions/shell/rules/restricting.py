"""Whether a path rule is about a shell operand: literally, as a glob, or by what is below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from gatewright.permissions.paths import Paths, absolute, inside, lexical
from gatewright.permissions.rulebook.patterns import PathPattern, PatternGroup, Patterns
from gatewright.permissions.rulebook.rules import Bare, Rule
from gatewright.permissions.shell.files.git_files import TREE
from gatewright.permissions.shell.files.operand import Operand


def fired_by_paths(
    groups: tuple[tuple[Rule, ...], tuple[Rule, ...]],
    operands: Sequence[tuple[Operand, bool]],
    patterns: Patterns,
    paths: Paths,
) -> Iterator[Rule]:
    """Of Read and of Edit rules, those about what commands read and write."""
    for rules, wanted in zip(groups, (False, True), strict=True):
        chosen = [operand for operand, written in operands if written == wanted]
        if not chosen or not rules:
            continue
        yield from (rule for rule in rules if isinstance(rule.form, Bare))
        group = patterns.group(rules)
        for operand in chosen:
            yield from group_hits(group, operand, paths)


def fired_by_sweeps(
    rules: tuple[Rule, ...], sweeps: Sequence[Operand], patterns: Patterns, paths: Paths
) -> Iterator[Rule]:
    """Rules about something in a directory where files are touched that no word names."""
    if not rules or not sweeps:
        return
    yield from (rule for rule in rules if isinstance(rule.form, Bare))
    directories = tuple(one for operand in sweeps for one in _swept(operand, paths))
    for rule, pattern in patterns.group(rules).entries:
        if any(one is None or _overlaps(pattern, one) for one in directories):
            yield rule


def fired_by_shown(
    rules: tuple[Rule, ...], shown: Sequence[Operand], patterns: Patterns, paths: Paths
) -> Iterator[Rule]:
    """Read rules about something in a directory of which files are printed that no word names.

    A rule that holds at any depth would be about every tree there is: its files are left out of
    what is printed instead (`excludes`).
    """
    floating = {id(rule) for rule, one in patterns.group(rules).entries if one.anywhere}
    for rule in fired_by_sweeps(rules, shown, patterns, paths):
        if id(rule) not in floating:
            yield rule


def _swept(operand: Operand, paths: Paths) -> Iterator[str | None]:
    """The directories, without case; None where it is not known which. A file is none."""
    for base in operand.bases:
        if base is None or operand.arg.unknown:
            yield None
            continue
        text = operand.arg.text
        whole = text == TREE.text
        located = paths.locate("." if whole else text, base)
        if whole and paths.in_root(located):
            yield paths.place.root.casefold()
        elif whole or text.endswith(("/", ".")) or paths.resolver.expand(f"{located.lexical}/."):
            yield from (reading.casefold() for reading in located.readings)


def _overlaps(pattern: PathPattern, directory: str) -> bool:
    return (
        pattern.anywhere or inside(pattern.folded, directory) or inside(directory, pattern.folded)
    )


def nearer(
    operands: Sequence[tuple[Operand, bool]], *, hidden: bool
) -> tuple[tuple[Operand, bool], ...]:
    """The operands as they count for our own home.

    What lies above it is moved or removed by the floor's leave. A walk from there reads it, but
    where it is `hidden` finds nothing.
    """
    return tuple(
        (replace(one, walks=one.walks and not (written or hidden), whole=False), written)
        for one, written in operands
    )


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
