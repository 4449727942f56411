"""The commands that run unprompted, as data in `safe_commands.json`: what keeps them harmless.

Everything is a positive list. An option that is not there makes the command an ordinary one, and so
does an abbreviation: only full names count. Each row carries its own examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from gatewright.permissions.shell.table_data import read, rows

Operands: TypeAlias = Literal["read", "text", "none", "pattern"]
# read: every operand is a path; pattern: the first is not, unless -e or --regexp gave it


class SafeRow(msgspec.Struct, frozen=True):
    """`flags` and `values` are short options without and with a value, `long` the long ones
    (`name=` needs a value, `name=?` may have one). `closed_*` take a value but are not allowed.

    `globs`: "any" operand may be a pattern, "tail" only one that cannot expand to an option, "none"
    at all.
    """

    flags: str = ""
    values: str = ""
    long: str = ""
    closed: str = ""
    operands: Operands = "read"
    most: int = 99
    digits: bool = False
    globs: Literal["any", "tail", "none"] = "any"
    implicit: bool = False  # without an operand it reads the current directory
    files: bool = False  # it reads what lies in an operand that is a directory


FILE = Path(__file__).with_name("safe_commands.json")


def _row(given: Mapping[str, Any]) -> SafeRow:
    said: dict[str, Any] = {**given, "long": " ".join(given.get("long", ()))}
    return SafeRow(**said)


SAFE: Mapping[str, SafeRow] = {name: _row(given) for name, given in rows(read(FILE)).items()}

# Programs that are safe with `--version` alone.
VERSIONS = frozenset({"node", "python3", "npm", "git"})
# find: predicates that keep it a reader, with the number of words each takes.
FIND: Mapping[str, int] = {
    **dict.fromkeys(
        ("-print", "-print0", "-ls", "-prune", "-depth", "-d", "-mount", "-xdev", "-not", "-a",
         "-and", "-o", "-or", "!", "(", ")", ",", "-true", "-false", "-quit", "-daystart", "-empty",
         "-readable", "-writable", "-executable", "-nouser", "-nogroup", "-noleaf", "-warn",
         "-nowarn", "-ignore_readdir_race", "-help", "--help", "-version", "--version"), 0),
    **dict.fromkeys(
        ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex",
         "-type", "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin",
         "-ctime", "-cmin", "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum", "-lname",
         "-ilname", "-printf", "-regextype", "-fstype", "-used", "-newermt"), 1),
}  # fmt: skip
FIND_PATHS = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
