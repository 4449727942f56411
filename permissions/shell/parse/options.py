"""Reading a program's arguments the way the program does: glued, bundled, after `--`.

A table row says which options take a value; what is no option and no value is an operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from gatewright.permissions.shell.parse.words import Arg

Kind: TypeAlias = Literal["flag", "value", "operand", "end"]


class Grammar(msgspec.Struct, frozen=True):
    """`short` letters and `long` names that take a value; `optional` long ones only with `=`.

    `first` programs stop reading options at the first operand (env, xargs, sudo).
    """

    short: str = ""
    long: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    first: bool = False


class Item(msgspec.Struct, frozen=True):
    """One option or operand. `name` is "-x" or "--long" without its value."""

    kind: Kind
    name: str
    value: str
    arg: Arg
    index: int
    separate: bool = False  # the value was the next word


def parse_arguments(argv: Sequence[Arg], grammar: Grammar) -> Iterator[Item]:
    """Everything behind the program's name, in order."""
    index, count = 0, len(argv)
    only_operands = False
    while index < count:
        arg = argv[index]
        text = arg.text
        here = index
        index += 1
        if only_operands or text == "-" or not text.startswith("-") or (arg.leads and arg.unknown):
            only_operands = only_operands or grammar.first
            yield Item("operand", "", text, arg, here)
        elif text == "--":
            only_operands = True
            yield Item("end", "--", "", arg, here)
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            if equals:
                yield Item("value", name, value, arg, here)
            elif _takes_value(name, grammar) and index < count:
                yield Item("value", name, argv[index].text, argv[index], here, separate=True)
                index += 1
            else:
                yield Item("flag", name, "", arg, here)
        else:
            for item in _bundle(text, arg, here, grammar):
                if item.kind == "value" and not item.value and index < count:
                    following = argv[index]
                    yield Item("value", item.name, following.text, following, here, separate=True)
                    index += 1
                else:
                    yield item


def _takes_value(name: str, grammar: Grammar) -> bool:
    """Exactly, or as an abbreviation of exactly that kind of option."""
    bare = name[2:]
    return bare in grammar.long or (
        len(bare) > 1
        and any(known.startswith(bare) for known in grammar.long)
        and not any(known.startswith(bare) for known in grammar.optional)
    )


def _bundle(text: str, arg: Arg, index: int, grammar: Grammar) -> Iterator[Item]:
    """`-xvf file`: letters until one takes the rest as its value."""
    for position, letter in enumerate(text[1:], start=1):
        if letter in grammar.short:
            yield Item("value", f"-{letter}", text[position + 1 :], arg, index)
            return
        yield Item("flag", f"-{letter}", "", arg, index)
