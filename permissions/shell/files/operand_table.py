"""Which words of which program are files it reads or writes; generous, because it restricts.

The rows are in `operands.json`. A program that is not listed touches nothing the gate knows of.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.permissions.shell.table_data import read, rows

Role: TypeAlias = Literal[
    "read", "write", "none", "skip1-read", "skip1-write", "copy", "move", "link", "zip"
]  # fmt: skip
# skip1: the first operand is a pattern, script or mode; copy, move, link: the last is the target


class OperandRow(msgspec.Struct, frozen=True):
    """`values`/`long` take a value that is no file; `reads`/`writes` options whose value is one.

    `skips` are options that make the first operand a file after all; `walks` options with which
    directories are read through (empty: always walks, None: never); `follows` the letters with
    which a walk goes through links (`*`: always).
    """

    role: Role
    values: str = ""
    long: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    walks: tuple[str, ...] | None = None
    follows: str = "LHh"
    edits: tuple[str, ...] = ()  # options that turn what is read into what is written
    implicit: bool = False  # walks the current directory without an operand


OPERANDS: Mapping[str, OperandRow] = {
    name: OperandRow(**row)
    for name, row in rows(read(Path(__file__).with_name("operands.json"))).items()
}
