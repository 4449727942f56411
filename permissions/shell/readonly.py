"""Whether one simple command is on the safe list, arguments and all.

Everything unknown makes it an ordinary command; nothing here ever restricts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from gatewright.permissions.shell.line import Bases, Part
from gatewright.permissions.shell.options import Grammar, Item, parse_arguments
from gatewright.permissions.shell.safe_table import (
    FIND,
    FIND_PATHS,
    GIT,
    GIT_GLOBAL,
    SAFE,
    VERSIONS,
    GitRow,
    SafeRow,
)
from gatewright.permissions.shell.words import Arg


class World(Protocol):
    """What a safe command may touch."""

    def readable(self, arg: Arg, bases: Bases) -> bool:
        """A path operand that is inside and under no restriction, whatever it expands to."""
        ...

    def lists_inside(self, arg: Arg, bases: Bases) -> bool:
        """A glob that only looks into directories inside."""
        ...

    def enterable(self, arg: Arg, bases: Bases) -> bool:
        """A directory inside that a cd may go to."""
        ...

    def git_safe(self, bases: Bases) -> bool:
        """Git may be trusted here: its configuration could name programs to run."""
        ...

    def environment_scrubbed(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class LongOption:
    value: bool
    optional: bool
    format: bool


@lru_cache(maxsize=256)
def long_options(text: str) -> Mapping[str, LongOption]:
    """`name`, `name=` (needs a value), `name=?` (may have one), then `G` for formats."""
    found: dict[str, LongOption] = {}
    for word in text.split():
        name, _, rest = word.partition("=")
        equals = "=" in word
        found[name] = LongOption(equals and "?" not in rest, equals and "?" in rest, "G" in rest)
    return found


@lru_cache(maxsize=256)
def _grammar(values: str, closed: str, long: str) -> Grammar:
    table = long_options(long)
    return Grammar(
        short=values + closed,
        long=tuple(name for name, option in table.items() if option.value),
        optional=tuple(name for name, option in table.items() if not option.value),
    )


def is_safe(part: Part, world: World) -> bool:
    """Reads only, inside only, and starts no other program. Redirections are not looked at."""
    if not part.argv:
        return False
    name = part.argv[0]
    if not name.literal:
        return False
    program = name.text
    if not all(world.lists_inside(arg, part.bases) for arg in part.argv[1:] if arg.patterns):
        return False
    special = _SPECIAL.get(program)
    if special is not None:
        return special(part, world)
    row = SAFE.get(program)
    if row is None:
        versions = VERSIONS.get(program, ())
        return len(part.argv) == 2 and part.argv[1].literal and part.argv[1].text in versions
    return _by_row(part, row, world)


def _by_row(part: Part, row: SafeRow, world: World) -> bool:
    operands: list[Item] = []
    pattern_given = False
    ended = False
    for item in parse_arguments(part.argv[1:], _grammar(row.values, row.closed, row.long)):
        if item.kind == "end":
            ended = True
        elif item.kind == "operand":
            if not ended and not _stays_operand(item.arg, row):
                return False
            operands.append(item)
        elif not _option_allowed(item, row.flags, row.values, row.long, digits=row.digits):
            return False
        elif item.name in ("-e", "--regexp", "--files"):
            pattern_given = True
    if row.operands == "none":
        return not operands
    if row.operands == "text":
        return all(not item.arg.dynamic for item in operands)
    if row.operands == "pattern" and not pattern_given and operands:
        if operands[0].arg.dynamic:
            return False
        operands = operands[1:]
    if len(operands) > row.most or (row.most < 99 and any(o.arg.patterns for o in operands)):
        return False
    if not operands and row.implicit:
        return world.readable(_HERE, part.bases)
    return all(item.value == "-" or world.readable(item.arg, part.bases) for item in operands)


_HERE = Arg(".", ".")


def _stays_operand(arg: Arg, row: SafeRow) -> bool:
    """A glob could expand to something that looks like an option."""
    if arg.dynamic:
        return False
    if not arg.patterns or row.globs == "any":
        return True
    return row.globs == "tail" and not any(
        pattern[:1] in ("*", "?", "[", "{", "-") for pattern in arg.patterns
    )


def _option_allowed(item: Item, flags: str, values: str, long: str, *, digits: bool) -> bool:
    if not item.arg.literal and not _harmless_value(item):
        return False
    if item.separate and re.fullmatch(r"-\D.*|--", item.value, re.DOTALL):
        return False  # versions differ on whether this is the value or another option
    name = item.name
    if name.startswith("--"):
        option = long_options(long).get(name[2:])
        if option is None:
            return False
        if option.format and not _harmless_format(item.value):
            return False
        if item.kind == "value":
            return option.value or (option.optional and not item.separate)
        return not option.value
    letter = name[1:]
    if item.kind == "value":
        return letter in values
    return letter in flags or (digits and letter.isdigit())


def _harmless_value(item: Item) -> bool:
    """An unquoted glob inside an option's own value, as in `--include=*.py`: stays an option."""
    return not item.arg.dynamic and item.value != "" and not item.separate


def _harmless_format(text: str) -> bool:
    return "%G" not in text and "signature" not in text


# --- programs with a grammar of their own -----------------------------------------------------


def _find(part: Part, world: World) -> bool:
    argv = part.argv[1:]
    if any(not arg.literal for arg in argv):
        return False
    index = 0
    if argv and argv[0].text == "-P":
        index = 1
    roots: list[Arg] = []
    while index < len(argv) and not _begins_expression(argv[index].text):
        roots.append(argv[index])
        index += 1
    if not all(world.readable(root, part.bases) for root in roots or [_HERE]):
        return False
    while index < len(argv):
        text = argv[index].text
        index += 1
        if text in FIND_PATHS:
            if index >= len(argv) or not world.readable(argv[index], part.bases):
                return False
            index += 1
            continue
        takes = FIND.get(text)
        if takes is None or index + takes > len(argv):
            return False
        index += takes
    return True


def _begins_expression(text: str) -> bool:
    return (text.startswith("-") and len(text) > 1) or text in ("(", ")", "!", ",")


_SED = re.compile(r"(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?p")
_SED_PATTERN = re.compile(r"/[A-Za-z0-9 _.,:=\"'-]*/(?:,/[A-Za-z0-9 _.,:=\"'-]*/)?p")


def _sed(part: Part, world: World) -> bool:
    """Only `sed -n 'N,Mp' files`."""
    rest = part.argv[1:]
    if len(rest) < 2 or rest[0].text not in ("-n", "--quiet", "--silent"):
        return False
    script, files = rest[1], rest[2:]
    if not script.literal:
        return False
    steps = [step.strip() for step in script.text.split(";")]
    if not all(_SED.fullmatch(step) or _SED_PATTERN.fullmatch(step) for step in steps):
        return False
    return all(
        not file.text.startswith("-") and not _leads_with_glob(file)
        and world.readable(file, part.bases)
        for file in files
    )  # fmt: skip


def _leads_with_glob(arg: Arg) -> bool:
    return any(pattern[:1] in ("*", "?", "[", "{", "-") for pattern in arg.patterns)


_JQ_BAD = re.compile(r"\benv\b|\$ENV|input_filename|\bimport\b|\binclude\b|\binput_line|\$__")
_JQ_FLAGS = frozenset(
    {"--raw-output", "--null-input", "--compact-output", "--slurp", "--sort-keys", "--color-output",
     "--monochrome-output", "--ascii-output", "--exit-status", "--join-output", "--tab",
     "--raw-input", "--seq", "--stream"}
)  # fmt: skip


def _jq(part: Part, world: World) -> bool:
    rest = list(part.argv[1:])
    filter_seen = False
    while rest:
        arg = rest.pop(0)
        if arg.dynamic:
            return False
        text = arg.text
        if text in ("--arg", "--argjson"):
            if len(rest) < 2 or rest[0].dynamic or rest[1].dynamic:
                return False
            del rest[:2]
        elif text == "--indent":
            if not rest or not rest.pop(0).text.isdigit():
                return False
        elif text in _JQ_FLAGS or re.fullmatch(r"-[rncsSCMaejR]+", text):
            continue
        elif text.startswith("-") and text != "-":
            return False
        elif not filter_seen:
            filter_seen = True
            if _JQ_BAD.search(text) or arg.patterns:
                return False
        elif _leads_with_glob(arg) or not world.readable(arg, part.bases):
            return False
    return filter_seen


def _rg(part: Part, world: World) -> bool:
    """What a glob lets in again would escape the names a search is told to leave out."""
    hidden = any(re.fullmatch(r"--hidden|-\.|-\w*uu\w*|--unrestricted", t) for t in part.texts)
    for item in parse_arguments(part.argv[1:], _grammar(SAFE["rg"].values, "f", SAFE["rg"].long)):
        if item.name in ("-g", "--glob", "--iglob") and not item.value.startswith("!"):
            if hidden or item.value.rpartition("/")[2][:1] in (".", "{", "[", "?"):
                return False
    return _by_row(part, SAFE["rg"], world)


def _date(part: Part, world: World) -> bool:
    """Shows the time: formats and `-d`, never a file, never digits that would set it."""
    rest = list(part.argv[1:])
    while rest:
        arg = rest.pop(0)
        if not arg.literal:
            return False
        text = arg.text
        if text.startswith("+") or text in ("-u", "--utc", "--universal", "-R", "--rfc-email"):
            continue
        if re.fullmatch(r"-I\w*|--iso-8601(=\w+)?|--rfc-3339=\w+|--date=.*|-d.+", text):
            continue
        if (text in ("-d", "--date") and rest and rest[0].literal) or (
            text in ("-r", "--reference") and rest and world.readable(rest[0], part.bases)
        ):
            rest.pop(0)
        else:
            return False
    return True


def _printf(part: Part, world: World) -> bool:
    rest = part.argv[1:]
    if rest and rest[0].text == "--":
        rest = rest[1:]
    elif rest and rest[0].text.startswith("-"):
        return False
    if not rest or rest[0].dynamic or _leads_with_glob(rest[0]):
        return False
    return "%n" not in rest[0].text


def _environment(part: Part, world: World) -> bool:
    return len(part.argv) == 1 and world.environment_scrubbed()


def _printenv(part: Part, world: World) -> bool:
    return world.environment_scrubbed() and _by_row(part, SAFE["printenv"], world)


def _test(part: Part, world: World) -> bool:
    rest = part.argv[1:]
    if part.argv[0].text == "[":
        if not rest or rest[-1].text != "]":
            return False
        rest = rest[:-1]
    for index, arg in enumerate(rest):
        if arg.dynamic or arg.patterns or arg.text in ("-v", "-R"):
            return False
        file_test = index > 0 and re.fullmatch(r"-[bcdefghLprsSuwxOGNk]", rest[index - 1].text)
        looks_outside = arg.text.startswith(("/", "~", "..")) or "/../" in arg.text
        if (file_test or looks_outside) and not world.readable(arg, part.bases):
            return False
    return True


def _command(part: Part, world: World) -> bool:
    """Only `command -v NAME`, which looks a program up."""
    texts = part.texts[1:]
    return len(texts) >= 2 and texts[0] in ("-v", "-V") and not any(a.dynamic for a in part.argv)


def _ps(part: Part, world: World) -> bool:
    for index, arg in enumerate(part.argv[1:]):
        text = arg.text
        if not arg.literal:
            return False
        value = index > 0 and re.fullmatch(r"-[opCuUtgGs]|--(sort|format|pid|user)",
                                           part.argv[index].text)  # fmt: skip
        if re.fullmatch(r"[abcdfghjlmnrsTtuvwxXZ]+|\d+(,\d+)*", text) or value:
            continue
        if not re.fullmatch(
            r"-[AaCcdefFGgHhjLlMmNnopPqsTtUuVvwxyZ]+|--[a-z-]+(=[\w,%.+-]*)?", text
        ):
            return False
    return True


def _cd(part: Part, world: World) -> bool:
    rest = [arg for arg in part.argv[1:] if arg.text not in ("-P", "-L", "--")]
    return len(rest) == 1 and world.enterable(rest[0], part.bases)


def _echo(part: Part, world: World) -> bool:
    """Prints its words; even what a substitution printed is only printed again."""
    return True


# --- git --------------------------------------------------------------------------------------


def _git(part: Part, world: World) -> bool:
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


def _git_row(argv: Sequence[Arg], row: GitRow, part: Part, world: World) -> bool:
    operands: list[Item] = []
    names: set[str] = set()
    ended = False
    for item in parse_arguments(argv, _grammar(row.values, "", row.long)):
        if item.kind == "end":
            ended = True
        elif item.kind == "operand":
            if not ended and _leads_with_glob(item.arg):
                return False
            operands.append(item)
        elif _option_allowed(item, row.flags, row.values, row.long, digits=row.digits):
            names.add(item.name)
        else:
            return False
    if row.words and not _leading_words(operands, row):
        return False
    if row.operands == "listing" and operands and not names & set(row.listing):
        return False
    if row.operands == "one" and not (names & _CONFIG_READS and len(operands) <= 1):
        return False
    return all(_revision_or_path(item.arg, part, world) for item in operands)


_CONFIG_READS = frozenset({"--get", "--get-all", "--list", "-l", "--get-urlmatch"})


def _leading_words(operands: list[Item], row: GitRow) -> bool:
    texts = tuple(item.value for item in operands)
    if any(words and texts[: len(words)] == words for words in row.words):
        return True
    return () in row.words and (not texts or row.operands == "one")


def _revision_or_path(arg: Arg, part: Part, world: World) -> bool:
    """A path outside the repository would turn `git diff` into a plain file comparison."""
    if arg.dynamic:
        return False
    if arg.patterns:
        return all(world.readable(arg, (base,)) for base in part.bases)
    return world.readable(arg, part.bases)


Check = Callable[[Part, World], bool]
_SPECIAL: Mapping[str, Check] = {
    "find": _find,
    "rg": _rg,
    "sed": _sed,
    "jq": _jq,
    "date": _date,
    "printf": _printf,
    "env": _environment,
    "printenv": _printenv,
    "test": _test,
    "[": _test,
    "command": _command,
    "ps": _ps,
    "cd": _cd,
    "echo": _echo,
    "git": _git,
}
SPECIAL_EXAMPLES: tuple[tuple[str, bool], ...] = (
    ("sed -n '1,5p' a", True), ("sed -n 5p a", True), ("sed -n '1,5w x' a", False),
    ("sed -i s/a/b/ a", False), ("sed s/a/b/ a", False), ("sed -n -f x a", False),
    ("jq .a x", True), ("jq -r '.a[]' x", True), ("jq -f x", False), ("jq env x", False),
    ("jq --rawfile a b . x", False), ("date", True), ("date -u +%s", True), ("date -s x", False),
    ("date 010100", False), ("date -f x", False), ("date --set=x", False), ("env", True),
    ("env ls", False), ("printf '%s' a", True), ("printf -v a b", False), ("test -f a", True),
    ("[ -f a ]", True), ("test -v a", False), ("command -v ls", True), ("command ls", False),
    ("rg --hidden -g '*.py' x", False), ("rg -g .env x", False), ("rg -g '*.py' x", True),
    ("ps aux", True), ("ps -ef", True), ("ps auxe", False), ("cd src", True), ("cd", False),
    ("cd /etc", False), ("cd -", False), ("node --version", True), ("node x --version", False),
)  # fmt: skip
