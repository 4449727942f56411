"""Which git commands only read, and read only this repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.parse.options import Item, parse_arguments
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.safe.safe_rows import grammar, leads_with_glob, option_allowed
from gatewright.permissions.shell.safe.safe_surroundings import Surroundings
from gatewright.permissions.shell.table_data import read, rows


class GitRow(msgspec.Struct, frozen=True):
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
    data = read(FILE)
    found: dict[str, GitRow] = {}
    for name, given in rows(data["rows"]).items():
        shared = (word for each in given.pop("with", ()) for word in data["options"][each])
        long = " ".join((*shared, *given.pop("long", ())))
        found[name] = GitRow(**given, long=long)
    return found


FILE = Path(__file__).with_name("safe_git.json")
GIT: Mapping[str, GitRow] = _rows()  # what runs unprompted
GIT_GLOBAL = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})


def git_is_safe(part: Part, world: Surroundings) -> bool:
    argv = part.argv[1:]
    if [arg.text for arg in argv] == ["--version"]:
        return True
    index = 0
    while index < len(argv) and argv[index].text in GIT_GLOBAL:
        index += 1
    if index >= len(argv) or any(arg.dynamic for arg in argv):
        return False
    row = GIT.get(argv[index].text)
    if row is None or not argv[index].literal or not world.git_safe(part.bases):
        return False
    return _git_row(argv[index + 1 :], row, part, world)


def _git_row(argv: Sequence[Arg], row: GitRow, part: Part, world: Surroundings) -> bool:
    operands: list[Item] = []
    names: set[str] = set()
    ended = False
    for item in parse_arguments(argv, grammar(row.values, "", row.long)):
        if item.kind == "end":
            ended = True
        elif item.kind == "operand":
            if not ended and leads_with_glob(item.arg):
                return False
            operands.append(item)
        elif option_allowed(item, row.flags, row.values, row.long, digits=row.digits):
            names.add(item.name)
        else:
            return False
    if row.words and not _leading_words(operands, row):
        return False
    if row.operands == "listing" and operands and not names & set(row.listing):
        return False
    if row.operands == "one" and not _reads_config(names, [item.value for item in operands]):
        return False
    return all(_revision_or_path(item.arg, part, world) for item in operands)


_CONFIG_READS = frozenset({"--get", "--get-all", "--list", "-l", "--get-urlmatch"})
_CONFIG_HERE = frozenset({"--local", "--worktree"})
_CONFIG_PLAIN = (
    "user.name", "user.email", "init.", "branch.", "remote.", "push.", "pull.", "merge.", "rebase.",
    "commit.", "diff.", "status.", "color.", "log.", "fetch.", "submodule.", "tag.", "i18n.",
    "core.autocrlf", "core.eol", "core.editor", "core.filemode", "core.ignorecase", "core.bare",
    "core.hookspath", "core.excludesfile", "core.safecrlf", "core.worktree", "core.quotepath",
)  # fmt: skip


def _reads_config(names: set[str], operands: Sequence[str]) -> bool:
    """Of the repository everything; of the person's own, which may hold keys, only plain names."""
    if not names & _CONFIG_READS or len(operands) > 1:
        return False
    if names & _CONFIG_HERE and not {"--includes", "--global", "--system"} & names:
        return True
    listing = {"--list", "-l", "--get-urlmatch"} & names
    return not listing and any(key.lower().startswith(_CONFIG_PLAIN) for key in operands)


def _leading_words(operands: list[Item], row: GitRow) -> bool:
    texts = tuple(item.value for item in operands)
    if any(words and texts[: len(words)] == words for words in row.words):
        return True
    return () in row.words and (not texts or row.operands == "one")


def _revision_or_path(arg: Arg, part: Part, world: Surroundings) -> bool:
    """A path outside the repository would turn `git diff` into a plain file comparison."""
    if arg.dynamic:
        return False
    if arg.patterns:
        return all(world.readable(arg, (base,)) for base in part.bases)
    return world.readable(arg, part.bases)
