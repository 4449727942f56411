"""Whether a command keeps to its row of the safe list: options, operands, and where they lead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.parse.options import Grammar, Item, parse_arguments
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.safe.safe_formats import harmless_format
from gatewright.permissions.shell.safe.safe_surroundings import Surroundings
from gatewright.permissions.shell.safe.safe_table import SafeRow


class LongOption(msgspec.Struct, frozen=True):
    value: bool
    optional: bool
    mark: str  # what kind of format its value is (`safe_formats`), "" for none


@lru_cache(maxsize=256)
def long_options(text: str) -> Mapping[str, LongOption]:
    """`name`, `name=` (needs a value), `name=?` (may have one), then the mark of a format."""
    found: dict[str, LongOption] = {}
    for word in text.split():
        name, _, rest = word.partition("=")
        equals = "=" in word
        found[name] = LongOption(equals and "?" not in rest, "?" in rest, rest.removeprefix("?"))
    return found


@lru_cache(maxsize=256)
def grammar(values: str, closed: str, long: str) -> Grammar:
    table = long_options(long)
    return Grammar(
        short=values + closed,
        long=tuple(name for name, option in table.items() if option.value),
        optional=tuple(name for name, option in table.items() if not option.value),
    )


def by_row(part: Part, row: SafeRow, world: Surroundings) -> bool:
    operands: list[Item] = []
    pattern_given = False
    ended = False
    for item in parse_arguments(part.argv[1:], grammar(row.values, row.closed, row.long)):
        if item.kind == "end":
            ended = True
        elif item.kind == "operand":
            if not ended and not _stays_operand(item.arg, row):
                return False
            operands.append(item)
        elif not option_allowed(item, row.flags, row.values, row.long, digits=row.digits):
            return False
        elif item.name in ("-e", "--regexp", "--files"):
            pattern_given = True
    return _operands_allowed(operands, row, part, world, pattern_given=pattern_given)


def _operands_allowed(
    operands: list[Item], row: SafeRow, part: Part, world: Surroundings, *, pattern_given: bool
) -> bool:
    if row.operands == "none":
        return not operands
    if row.operands == "text":
        return all(not item.arg.dynamic for item in operands)
    if row.operands == "pattern" and not pattern_given and operands:
        if operands[0].arg.dynamic:
            return False
        operands = operands[1:]
    if len(operands) > row.most or (row.most < 99 and any(o.arg.patterns for o in operands)):
        return False
    if not operands and row.implicit:
        return world.readable(HERE, part.bases)
    if row.files and any(world.directory(item.arg, part.bases) for item in operands):
        return False
    return all(item.value == "-" or world.readable(item.arg, part.bases) for item in operands)


HERE = Arg(".", ".")


def _stays_operand(arg: Arg, row: SafeRow) -> bool:
    """A glob could expand to something that looks like an option."""
    if arg.dynamic:
        return False
    if not arg.patterns or row.globs == "any":
        return True
    return row.globs == "tail" and not any(
        pattern[:1] in ("*", "?", "[", "{", "-") for pattern in arg.patterns
    )


def option_allowed(item: Item, flags: str, values: str, long: str, *, digits: bool) -> bool:
    if not item.arg.literal and not _harmless_value(item):
        return False
    if item.separate and re.fullmatch(r"-\D.*|--", item.value, re.DOTALL):
        return False  # versions differ on whether this is the value or another option
    name = item.name
    if name.startswith("--"):
        option = long_options(long).get(name[2:])
        if option is None:
            return False
        if option.mark and not (item.arg.literal and harmless_format(option.mark, item.value)):
            return False
        if item.kind == "value":
            return option.value or (option.optional and not item.separate)
        return not option.value
    letter = name[1:]
    if item.kind == "value":
        return letter in values
    return letter in flags or (digits and letter.isdigit())


def _harmless_value(item: Item) -> bool:
    """An unquoted glob inside an option's own value, as in `--include=*.py`: stays an option."""
    return not item.arg.dynamic and item.value != "" and not item.separate


def leads_with_glob(arg: Arg) -> bool:
    return any(pattern[:1] in ("*", "?", "[", "{", "-") for pattern in arg.patterns)
