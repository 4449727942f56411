"""The git commands that run unprompted, as data in `safe_git.json`: what keeps sub-commands so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gatewright.permissions.shell.table_data import read, rows


@dataclass(frozen=True, slots=True)
class GitRow:
    """Allowed options of one read-only sub-command; a listing one takes no free operand.

    `operands`: "any" revisions and paths, "none", or "pattern" only behind a listing option.
    """

    flags: str = ""
    values: str = ""
    long: str = ""
    operands: Literal["any", "none", "listing", "one"] = "any"
    listing: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()  # allowed leading words, () = none needed
    digits: bool = False


FILE = Path(__file__).with_name("safe_git.json")


def _rows() -> dict[str, GitRow]:
    """`with` names the lists of options that a row shares with others."""
    data = read(FILE)
    found: dict[str, GitRow] = {}
    for name, given in rows(data["rows"]).items():
        shared = (word for each in given.pop("with", ()) for word in data["options"][each])
        long = " ".join((*shared, *given.pop("long", ())))
        found[name] = GitRow(**given, long=long)
    return found


GIT: Mapping[str, GitRow] = _rows()
GIT_GLOBAL = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})
