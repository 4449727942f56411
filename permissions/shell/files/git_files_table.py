"""The files of git's sub-commands, as rows of `git_files.json`.

What is not listed touches none the gate knows of.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from gatewright.permissions.shell.table_data import read, rows


class FileRow(msgspec.Struct, frozen=True):
    """`files`: what the operands are. `values`: options that take one which is no file, `written`
    those whose value is a file or directory it writes. `sweeps`: options with which it changes
    files that no word names; `sweeps_alone`: so it does without any path. `shows`: options with
    which it gives out files that no word names, or gives them another name; `shows_alone`: always.
    """

    files: Literal["none", "read", "write", "both", "first", "last"] = "none"
    values: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    sweeps: tuple[str, ...] = ()
    sweeps_alone: bool = False
    walks: bool = False
    shows: tuple[str, ...] = ()
    shows_alone: bool = False


WRITTEN_BY_ALL: tuple[str, ...] = ("--output",)
ROWS: Mapping[str, FileRow] = {
    name: FileRow(**row)
    for name, row in rows(read(Path(__file__).with_name("git_files.json"))).items()
}
