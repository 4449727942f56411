"""Whether a grep walks directories, whichever of its spellings says so."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.permissions.shell.files.operand_table import OPERANDS
from gatewright.permissions.shell.parse.options import Grammar, Item, parse_arguments
from gatewright.permissions.shell.parse.words import Arg

GREPS = frozenset({"grep", "egrep", "fgrep", "zgrep", "ggrep"})
GREP = Grammar("ABCefmdD", OPERANDS["grep"].long, ("color", "colour"))
_WALKS = ("--recursive", "--dereference-recursive")


def walks(argv: Sequence[Arg]) -> bool:
    """`-r`, `-R`, `-d recurse` and their long names, also shortened; generous."""
    return any(map(_walks, parse_arguments(argv[1:], GREP)))


def _walks(item: Item) -> bool:
    if item.name in ("-r", "-R") or any(is_long(item.name, one) for one in _WALKS):
        return True
    given = item.name == "-d" or is_long(item.name, "--directories")
    return given and (not item.arg.literal or "recurse".startswith(item.value))


def is_long(name: str, option: str) -> bool:
    """In full, or as much of it as tells it from others."""
    return len(name) > 4 and option.startswith(name)
