"""Searches that walk directories, and git, are told to leave out what a Read rule names.

Only rules that match at any depth are handled here; a search over a directory that another rule
is about is stopped before it gets this far.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from gatewright.permissions.paths import components_meet
from gatewright.permissions.rulebook.braces import expanded
from gatewright.permissions.rulebook.rules import PathForm, Rule
from gatewright.permissions.shell.files.git_files import excludable, numbered
from gatewright.permissions.shell.files.grep_walks import GREP, is_long, walks
from gatewright.permissions.shell.line import Line, Part
from gatewright.permissions.shell.parse.options import Grammar, parse_arguments
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.rules.coverage import PEELED, peel

_GREPS = frozenset({"grep", "egrep", "fgrep"})  # those that take exclusions for sure
_RG = Grammar("ABCEegjMmtTrdf", ("regexp", "glob", "iglob", "file", "type", "type-not", "replace"))


def names_left_out(rules: Iterable[Rule]) -> tuple[tuple[str, bool], ...]:
    """What rules for any depth name: files (or, if True, directories), also `a/b` of `**/a/b`."""
    found: list[tuple[str, bool]] = []
    for rule in rules:
        if isinstance(rule.form, PathForm):
            for text in expanded(rule.form.pattern.strip(), keep_escapes=True) or ():
                found.extend(_names(text))
    return tuple(dict.fromkeys(found))


def _names(text: str) -> Iterator[tuple[str, bool]]:
    floating = text.startswith("**/") or "/" not in text.rstrip("/")
    name = text.removeprefix("**/")
    directory = name.endswith("/**")
    name = name.removesuffix("/**").rstrip("/")
    if floating and name:
        yield name, directory
        if not directory and "*" not in name.rpartition("/")[2]:
            yield name, True  # a directory of that name is covered as well


def with_excludes(line: Line, rules: Sequence[Rule]) -> str:
    """The line with exclusions added to its grep -r, rg and git; unchanged if there are none.

    What git is to show by its number has to be a commit: no exclusion is about a file without name.
    """
    names = names_left_out(rules)
    if not rules or not line.understood:
        return line.text
    insertions: list[tuple[int, str]] = []
    for part in line.parts:
        place = _place(part)
        if place is None:
            continue
        if names:
            insertions.append((place[0], _options(place[1], names)))
        if place[1] == "git":
            insertions += [(at, "^{commit}") for at in _numbers(part)]
    text = line.text
    for at, options in sorted(insertions, reverse=True):
        text = text[:at] + options + text[at:]
    return text


def _place(part: Part) -> tuple[int, str] | None:
    """Where in the line the exclusions go, and for which program: behind all other options.

    Of two that contradict each other the last one counts, so nothing of the command's own may
    stand behind them.
    """
    found = _search_at(part)
    if found is None or len(part.ends) != len(part.argv):
        return None
    begins, program = found
    last = len(part.argv) - 1
    if program != "git":
        rest = part.argv[begins + 1 :]
        grammar = _RG if program == "rg" else GREP
        ended = [one.index for one in parse_arguments(rest, grammar) if one.kind == "end"]
        last = begins + ended[0] if ended else last
    return (part.ends[last], program) if part.ends[last] > 0 else None


def _numbers(part: Part) -> list[int]:
    """Where the words end that name an object by its number."""
    argv = part.argv
    while argv and argv[0].text != "git":
        argv = peel(argv) or ()
    found = numbered(replace(part, argv=argv))
    return [end for arg, end in zip(part.argv, part.ends, strict=True) if _among(arg, found)]


def _among(arg: Arg, found: Sequence[Arg]) -> bool:
    return any(arg is one for one in found)


def pinned(part: Part, line: Line) -> bool:
    """Whether what this very git command shows by its number is made sure to be a commit."""
    return _excluding(part, line) == "git"


def left_out(rule: Rule, part: Part, line: Line) -> bool:
    """Whether what a rule for any depth is about is left out of this very search."""
    names = names_left_out((rule,))
    program = _excluding(part, line)
    if not names or not program:
        return False
    return not any(_shown_anyway(name, program, part) for name, _ in names)


def _excluding(part: Part, line: Line) -> str:
    """The program that gets exclusions for this part, in the line itself or behind a wrapper."""
    if not line.understood or any(one not in PEELED for one in part.via):
        return ""
    for one in line.parts:
        place = _place(one)
        if place is not None and one.argv[len(one.argv) - len(part.argv) :] == part.argv:
            return place[1]
    return ""


def _shown_anyway(name: str, program: str, part: Part) -> bool:
    """An option of the command's own takes it in again, or the exclusion cannot say the place."""
    if "/" in name:
        if program in _GREPS:
            return True  # it knows names without a directory only
        above = [one.casefold() for base in part.bases for one in (base or "*").split("/") if one]
        directories = [one for one in name.casefold().split("/")[:-1] if one != "**"]
        if any(fnmatchcase(one, two) for one in above for two in directories):
            return True  # it may begin below the first of them
    last = name.rpartition("/")[2]
    for glob in _included(program, part):
        tail = glob.rpartition("/")[2]
        if components_meet(f"x{last}", f"x{tail}"):  # its wildcards mean dotfiles as well
            return True
    return False


def _included(program: str, part: Part) -> Iterator[str]:
    """The globs that take files in."""
    if program == "git":
        return
    for item in parse_arguments(part.argv[1:], _RG if program == "rg" else GREP):
        if program == "rg":
            taken = item.name == "--iglob" and not item.value.startswith("!")
        else:
            taken = is_long(item.name, "--include")
        if taken:
            yield item.value


def _search_at(part: Part) -> tuple[int, str] | None:
    """The word a walking search begins with, behind transparent wrappers."""
    argv = part.argv
    for _ in range(6):
        if not argv:
            return None
        program = argv[0].text
        if program == "git":
            inner_part = replace(part, argv=argv)
            known = all(at > 0 for at in _numbers(part))
            return (len(part.argv) - 1, program) if known and excludable(inner_part) else None
        if program == "rg" or (program in _GREPS and walks(argv)):
            return len(part.argv) - len(argv), program
        inner = peel(argv)
        if inner is None:
            return None
        argv = inner
    return None


def _options(program: str, names: Sequence[tuple[str, bool]]) -> str:
    if program == "rg":
        patterns = [f"!**/{name}/**" if directory else f"!**/{name}" for name, directory in names]
        return _told(f" --iglob={shlex.quote(pattern)}" for pattern in patterns)
    if program == "git":  # behind the last word, where git expects path specs
        specs = [f"**/{name}/**" if directory else f"**/{name}" for name, directory in names]
        magic = ":(top,exclude,icase,glob)"
        return "".join(f" {shlex.quote(magic + spec)}" for spec in specs)
    return _told(
        f" --exclude{'-dir' if directory else ''}={shlex.quote(name)}"
        for name, directory in names
        if "/" not in name
    )


def _told(options: Iterable[str]) -> str:
    """The first one twice: an option before it that lacks its value would take one of them."""
    found = tuple(options)
    return "".join((*found[:1], *found))
