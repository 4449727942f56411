"""The git commands that run unprompted, as data in `safe_git.json`: what keeps sub-commands so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gatewright.permissions.shell.safe.safe_data import plain, read


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


def _rows() -> dict[str, GitRow]:
    """`with` names the lists of options that a row shares with others."""
    data = read("safe_git.json")
    found: dict[str, GitRow] = {}
    for name, given in plain(data["rows"]).items():
        shared = (word for each in given.pop("with", ()) for word in data["options"][each])
        long = " ".join((*shared, given.pop("long", "")))
        words = tuple(map(tuple, given.pop("words", ())))
        found[name] = GitRow(**given, long=long, words=words)
    return found


GIT: Mapping[str, GitRow] = _rows()
GIT_GLOBAL = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})
