"""Searches that walk directories, and git, are told to leave out what a Read rule names.

Only rules that match at any depth are handled here; a search over a directory that another rule
is about is stopped before it gets this far.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gatewright.permissions.rules import PathForm, Rule
from gatewright.permissions.shell.coverage import peel
from gatewright.permissions.shell.git_files import excludable
from gatewright.permissions.shell.line import Line, Part

_GREPS = frozenset({"grep", "egrep", "fgrep"})
_WALKS = frozenset({"-r", "-R", "--recursive", "--dereference-recursive"})


def names_left_out(rules: Iterable[Rule]) -> tuple[tuple[str, bool], ...]:
    """File names (or, if True, directory names) of rules that match at any depth."""
    found: list[tuple[str, bool]] = []
    for rule in rules:
        if not isinstance(rule.form, PathForm):
            continue
        text = rule.form.pattern.strip()
        floating = text.startswith("**/") or "/" not in text.rstrip("/")
        name = text.removeprefix("**/")
        directory = name.endswith("/**")
        name = name.removesuffix("/**").rstrip("/")
        if floating and name and "/" not in name:
            found.append((name, directory))
            if not directory and "*" not in name:
                found.append((name, True))  # a directory of that name is covered as well
    return tuple(dict.fromkeys(found))


def with_excludes(line: Line, rules: Sequence[Rule]) -> str:
    """The line with exclusions added to its grep -r, rg and git; unchanged if there are none."""
    names = names_left_out(rules)
    if not names or not line.understood:
        return line.text
    insertions: list[tuple[int, str]] = []
    for part in line.parts:
        place = _search_at(part)
        if place is None:
            continue
        index, program = place
        if index < len(part.ends) and part.ends[index] > 0:
            insertions.append((part.ends[index], _options(program, names)))
    text = line.text
    for at, options in sorted(insertions, reverse=True):
        text = text[:at] + options + text[at:]
    return text


def _search_at(part: Part) -> tuple[int, str] | None:
    """The word a walking search begins with, behind transparent wrappers."""
    argv = part.argv
    for _ in range(6):
        if not argv:
            return None
        program = argv[0].text
        if program == "git":
            inner_part = replace(part, argv=argv)
            return (len(part.argv) - 1, program) if excludable(inner_part) else None
        if program == "rg" or (program in _GREPS and _recursive(part)):
            return len(part.argv) - len(argv), program
        inner = peel(argv)
        if inner is None:
            return None
        argv = inner
    return None


def _recursive(part: Part) -> bool:
    for text in part.texts:
        if text in _WALKS:
            return True
        if text.startswith("-") and not text.startswith("--") and set(text[1:]) & {"r", "R"}:
            return True
    return False


def _options(program: str, names: Sequence[tuple[str, bool]]) -> str:
    if program == "rg":
        patterns = [f"!**/{name}/**" if directory else f"!**/{name}" for name, directory in names]
        return "".join(f" --iglob={shlex.quote(pattern)}" for pattern in patterns)
    if program == "git":  # behind the last word, where git expects path specs
        specs = [f"**/{name}/**" if directory else f"**/{name}" for name, directory in names]
        magic = ":(top,exclude,icase,glob)"
        return "".join(f" {shlex.quote(magic + spec)}" for spec in specs)
    return "".join(
        f" --exclude{'-dir' if directory else ''}={shlex.quote(name)}" for name, directory in names
    )
