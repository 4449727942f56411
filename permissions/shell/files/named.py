"""The files that a command line spells out, and those that it names in any other way.

Who says yes to a line has read its words. So a word counts as spelled out where nothing is to be
expanded, no `..` turns the way round and no link inside the project decides where it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gatewright.permissions.decision import Named
from gatewright.permissions.paths import Located
from gatewright.permissions.rulebook.rules import PERSONAL, Rule
from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.reach import Reach, Use
from gatewright.permissions.shell.line import Line, Part
from gatewright.permissions.shell.rules.coverage import Coverage
from gatewright.tools.system.patterns import later

_EXPANDED: Final = later(r"[$`~]")
_MOST = 200  # words of a line


def named(parts: Iterable[Part], reach: Reach) -> tuple[Named, ...]:
    """Every file operand of these parts, once."""
    found: dict[Named, None] = {}
    for operand, use in reach.operands(parts):
        if len(found) >= _MOST:
            break
        found.update(dict.fromkeys(_meanings(operand, use, reach)))
    return tuple(found)


def _meanings(operand: Operand, use: Use, reach: Reach) -> Iterator[Named]:
    arg, places = operand.arg, reach.locations(operand.arg, operand.bases)
    if arg.unknown and arg.leads:
        return  # nobody knows
    spelled = arg.literal and not arg.variants and not _EXPANDED.search(arg.raw)
    if spelled and len(places) == 1 == len(operand.bases) and _straight(places[0], reach):
        yield Named(arg.text, places[0].real, use, exact=True, whole=operand.whole)
        return
    for place in places:
        for path in place.readings:
            yield Named(arg.text, path, use, whole=operand.whole)
    for base in operand.bases:
        for glob in arg.patterns:
            if base is not None or glob.startswith("/"):
                yield Named(arg.text, reach.paths.locate(glob, base or "/").lexical, use)


def _straight(place: Located, reach: Reach) -> bool:
    """Whether it leads where it says: by no `..`, and by no link that lies in the project."""
    if ".." in place.given.split("/"):
        return False
    found = reach.paths.resolver.followed(place.given)
    around = reach.paths.trusted()
    return found.real == place.real and not any(
        link.startswith(f"{one}/") for link in found.links for one in around
    )


def person_stored(line: Line, coverage: Coverage) -> tuple[Part, ...]:
    """The parts that a rule of the person's own allows exactly as they are."""
    if _own(coverage.whole_line(line)):
        return line.parts
    covers = ((part, coverage.of(part, hook=False)) for part in line.parts)
    return tuple(part for part, cover in covers if cover and cover.exact and _own(cover.rule))


def _own(rule: Rule | None) -> bool:
    return rule is not None and rule.source in PERSONAL
