"""What the demo works with: calls it makes, results it got, and reading their text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gatewright.tools.protocol import JsonObject

_NUMBER = re.compile(r"^\s*\d+(?:\t|→)")
_LONG = 160


class Step(msgspec.Struct, frozen=True):
    name: str
    input: JsonObject


class Done(msgspec.Struct, frozen=True):
    """A call that was made, with what it gave."""

    name: str
    input: JsonObject
    ok: bool
    text: str


class Reply(msgspec.Struct, frozen=True):
    """Without steps the reply is the last one."""

    text: str
    steps: tuple[Step, ...] = ()


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def plain_lines(text: str) -> list[str]:
    """The lines of a result without line numbers, notices and the empty lines around them."""
    lines = [_NUMBER.sub("", line).rstrip() for line in text.splitlines()]
    lines = [line for line in lines if not (line.startswith("<") and line.endswith(">"))]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def shown(lines: Sequence[str], limit: int) -> str:
    """Some lines as a block, and how many more there are."""
    cut = [line if len(line) <= _LONG else f"{line[:_LONG]}…" for line in lines[:limit]]
    more = len(lines) - len(cut)
    block = "\n".join(["```", *cut, "```"])
    return f"{block}\n{more} more." if more > 0 else block
