"""Commands that show how wide a rule is: what they do may be lost or public for good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gatewright.permissions.rulebook.rules import Bare, Form, ShellForm
from gatewright.permissions.shell.danger.danger_table import SUBCOMMANDS
from gatewright.permissions.shell.rules.matching import glob_matches

# What no table of sub-commands has.
OTHERS: Mapping[str, tuple[str, ...]] = {
    "git": ("git push --force", "git branch -D old", "git stash drop", "git filter-branch"),
    "rm": ("rm -rf src", "rm -r docs"),
    "chmod": ("chmod -R 777 src",),
    "rsync": ("rsync -a --delete a/ b/",),
}
MOST = 40  # tried


def examples(form: Form) -> Iterator[str]:
    """Those that a shell rule of this form names."""
    if not isinstance(form, Bare | ShellForm):
        return
    program = "" if isinstance(form, Bare) else form.head.partition(" ")[0]
    tables = (program,) if program in OTHERS or program in SUBCOMMANDS else ("rm", "git", "npm")
    tried = 0
    for name in tables:
        subcommands = (f"{name} {sub}" for sub in SUBCOMMANDS.get(name, ()))
        for command in (*OTHERS.get(name, ()), *subcommands):
            if tried < MOST and _names(form, command):
                tried += 1
                yield command


def _names(form: Bare | ShellForm, command: str) -> bool:
    if isinstance(form, Bare):
        return True
    match form.kind:
        case "prefix":
            return command == form.text or command.startswith(form.text + " ")
        case "glob":
            return glob_matches(form.text, command)
        case "exact":
            return False
