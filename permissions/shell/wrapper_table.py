"""Programs that run another command, as rows of `wrappers.json`: how to find it in their words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from gatewright.permissions.shell.table_data import read, rows


class Wrapper(msgspec.Struct, frozen=True):
    """How to find the wrapped command: skip options, then `operands` words of its own.

    `assigns`: VAR=value words before the command; `joined`: the rest is one shell text;
    `text`: options whose value is shell text; `never`: options with which nothing runs.
    """

    short: str = ""
    long: tuple[str, ...] = ()
    operands: int = 0
    assigns: bool = False
    joined: bool = False
    text: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


WRAPPERS: Mapping[str, Wrapper] = {
    name: Wrapper(**row)
    for name, row in rows(read(Path(__file__).with_name("wrappers.json"))).items()
}
