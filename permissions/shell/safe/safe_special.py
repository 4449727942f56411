"""Safe commands with a grammar of their own: find, sed, jq, date, test and the like."""

from __future__ import annotations

import re

from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.parse.options import Grammar, parse_arguments
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.safe.safe_rows import HERE, by_row, grammar, leads_with_glob
from gatewright.permissions.shell.safe.safe_surroundings import Surroundings
from gatewright.permissions.shell.safe.safe_table import FIND, FIND_PATHS, SAFE
from gatewright.tools.system.patterns import later


def find_is_safe(part: Part, world: Surroundings) -> bool:
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
    if not all(world.readable(root, part.bases) for root in roots or [HERE]):
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


_SED = later(r"(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?p")


_SED_PATTERN = later(r"/[A-Za-z0-9 _.,:=\"'-]*/(?:,/[A-Za-z0-9 _.,:=\"'-]*/)?p")


def sed_is_safe(part: Part, world: Surroundings) -> bool:
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
        not file.text.startswith("-") and not leads_with_glob(file)
        and world.readable(file, part.bases)
        for file in files
    )  # fmt: skip


# Between `$` and a name jq takes blanks and comments.
_JQ_BAD = later(
    r"\$[\s#]|\$(?:ENV|__)|\benv\b|input_filename|\binput_line|\b(?:import|include|modulemeta)\b"
)


_JQ_FLAGS = frozenset(
    {"--raw-output", "--null-input", "--compact-output", "--slurp", "--sort-keys", "--color-output",
     "--monochrome-output", "--ascii-output", "--exit-status", "--join-output", "--tab",
     "--raw-input", "--seq", "--stream"}
)  # fmt: skip


_JQ = Grammar(long=("indent",))


def jq_is_safe(part: Part, world: Surroundings) -> bool:
    """A filter on the line over files inside; nothing that reads code or the environment."""
    rest = list(part.argv[1:])
    if any(arg.dynamic for arg in rest):
        return False
    for name in ("--arg", "--argjson"):  # both take two words
        while name in (texts := [arg.text for arg in rest]):
            index = texts.index(name)
            if index + 2 >= len(rest):
                return False
            del rest[index : index + 3]
    operands: list[Arg] = []
    for item in parse_arguments(rest, _JQ):
        if item.kind == "operand":
            operands.append(item.arg)
        elif (item.kind == "value" and not (item.name == "--indent" and item.value.isdigit())) or (
            item.kind == "flag" and not _jq_flag(item.name)
        ):
            return False
    if not operands or operands[0].patterns or _JQ_BAD.search(operands[0].text):
        return False
    return all(not leads_with_glob(one) and world.readable(one, part.bases) for one in operands[1:])


def _jq_flag(name: str) -> bool:
    return name in _JQ_FLAGS or (len(name) == 2 and name[1] in "rncsSCMaejR")


def rg_is_safe(part: Part, world: Surroundings) -> bool:
    """What a glob lets in again would escape the names a search is told to leave out."""
    hidden = any(re.fullmatch(r"--hidden|-\.|-\w*uu\w*|--unrestricted", t) for t in part.texts)
    for item in parse_arguments(part.argv[1:], grammar(SAFE["rg"].values, "f", SAFE["rg"].long)):
        if item.name not in ("-g", "--glob", "--iglob") or item.value.startswith("!"):
            continue
        if hidden or item.value.rpartition("/")[2][:1] in (".", "{", "[", "?"):
            return False
    return by_row(part, SAFE["rg"], world)


def date_is_safe(part: Part, world: Surroundings) -> bool:
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


_CONVERSION = later(
    r"%(?:%|[-+ #0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:hh?|ll?|[jztL])?[diouxXeEfFgGaAcsbqQ])"
)
_ESCAPED_PERCENT = later(r"\\(?:0?45|x25|u0{0,2}25|U0{0,6}25)")  # zsh reads these first


def printf_is_safe(part: Part, world: Surroundings) -> bool:
    """A format of known conversions only: others assign variables or are read in two ways."""
    del world
    rest = part.argv[1:]
    if rest and rest[0].text == "--":
        rest = rest[1:]
    elif rest and rest[0].text.startswith("-"):
        return False
    if not rest or not rest[0].literal:
        return False  # what a pattern expands to would be the format
    text = rest[0].text
    return "%" not in _CONVERSION.sub("", text) and not _ESCAPED_PERCENT.search(text)


def environment_is_safe(part: Part, world: Surroundings) -> bool:
    return len(part.argv) == 1 and world.environment_scrubbed()


def printenv_is_safe(part: Part, world: Surroundings) -> bool:
    return world.environment_scrubbed() and by_row(part, SAFE["printenv"], world)


def test_is_safe(part: Part, world: Surroundings) -> bool:
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


def command_is_safe(part: Part, world: Surroundings) -> bool:
    """Only `command -v NAME`, which looks a program up."""
    del world
    texts = part.texts[1:]
    return len(texts) >= 2 and texts[0] in ("-v", "-V") and not any(a.dynamic for a in part.argv)


def ps_is_safe(part: Part, world: Surroundings) -> bool:
    del world
    for index, arg in enumerate(part.argv[1:]):
        text = arg.text
        if not arg.literal or "environ" in text.lower():
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


def cd_is_safe(part: Part, world: Surroundings) -> bool:
    rest = [arg for arg in part.argv[1:] if arg.text not in ("-P", "-L", "--")]
    return len(rest) == 1 and world.enterable(rest[0], part.bases)


def echo_is_safe(part: Part, world: Surroundings) -> bool:
    """Prints its words; even what a substitution printed is only printed again."""
    del part, world
    return True
