"""Turn a command line into LaunchOptions: the one parser, from the table in `flags.json`.

What it does not understand is a Conflict that says what to write instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from gatewright.agent.launch.exits import UsageError
from gatewright.agent.launch.flag_conflicts import check
from gatewright.agent.launch.flags import BY_NAME, Flag
from gatewright.agent.launch.options import LaunchOptions
from gatewright.tools.system.patterns import later

AUTO = "autoInProject"  # the mode of whoever goes on by itself
BULLET = later(r"-+\s")  # a list or a rule of dashes begins a text, and no flag
RULE = later(r"(\*|mcp__[\w*-]+|[A-Z][\w*]*)(\(.*\))?", re.DOTALL)
AREAS = frozenset({"agent", "api", "asyncio", "mcp", "permissions", "providers", "tools", "tui"})


class Conflict(UsageError):
    """A command line that means nothing, or two things; its text is for the person."""


class Given:
    """The fields set so far, and by which flag: for the message when two contradict."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._origin: dict[str, str] = {}

    def put(self, flag: Flag, value: Any, name: str) -> None:
        """Note one occurrence: lists add up, two different single values are a conflict."""
        field = flag.field
        if isinstance(value, tuple):
            self.values[field] = (*self.values.get(field, ()), *value)
        elif field in self.values and self.values[field] != value:
            first = self._origin[field]
            raise Conflict(f"{first} and {name} contradict each other: give one of them.")
        else:
            self.values[field] = value
        self._origin.setdefault(field, name)


def no_tool(name: str) -> bool:  # noqa: ARG001  the shape of a question
    return False


def parse(argv: Sequence[str], is_tool: Callable[[str], bool] = no_tool) -> LaunchOptions:
    """Read a command line; `is_tool` knows the names of tools in any case. Raises Conflict."""
    given = Given()
    words: list[str] = []
    rest = list(reversed(argv))
    while rest:
        word = rest.pop()
        if word == "--":
            words += reversed(rest)
            break
        if not word.startswith("-") or word == "-" or BULLET.match(word):
            words.append(word)
        else:
            _take_flag(word, rest, given, is_tool)
    if len(words) > 1:
        raise Conflict(
            f'More than one prompt: "{_short(words[0])}" and "{_short(words[1])}". '
            'Quote it: agent "fix the bug".'
        )
    options = LaunchOptions(prompt="".join(words), **given.values)
    if options.auto_continue and not options.mode:
        options = msgspec.structs.replace(options, mode=AUTO)
    if wrong := check(options):
        raise Conflict(wrong)
    return options


def _take_flag(word: str, rest: list[str], given: Given, is_tool: Callable[[str], bool]) -> None:
    """Read one flag, and its values from `rest`."""
    name, joined, value = word.partition("=")
    flag = BY_NAME.get(name)
    if flag is None:
        return _take_letters(word, rest, given)
    if flag.kind == "switch":
        if joined:
            raise Conflict(f"{name} takes no value.")
        return given.put(flag, flag.value, name)
    if joined:
        return given.put(flag, convert(flag, value, name), name)
    optional = flag.kind == "optional"
    if rest and (_may_follow(rest[-1], flag, is_tool) if optional else True):
        value = rest.pop()
    elif not optional:
        raise Conflict(f"{name} needs a value: {name} {flag.metavar or '|'.join(flag.choices)}")
    given.put(flag, convert(flag, value, name), name)
    while flag.more and not optional and rest and _may_follow(rest[-1], flag, is_tool):
        given.put(flag, convert(flag, rest.pop(), name), name)
    return None


def _take_letters(word: str, rest: list[str], given: Given) -> None:
    """`-pc` and `-mdemo`: letters of one dash, the last with its value."""
    flag = BY_NAME.get(word[:2])
    if word.startswith("--") or flag is None or re.search(r"\s", word):
        raise Conflict(_no_flag(word))
    if flag.kind != "switch":
        return given.put(flag, convert(flag, word[2:], word[:2]), word[:2])
    given.put(flag, flag.value, word[:2])
    if BY_NAME.get(f"-{word[2:3]}") is None:
        raise Conflict(_no_flag(word))
    return _take_flag(f"-{word[2:]}", rest, given, no_tool)


def _may_follow(word: str, flag: Flag, is_tool: Callable[[str], bool]) -> bool:
    """Whether a word that may be left out is a value of the flag, and not the prompt."""
    if word.startswith("-"):
        return False
    match flag.more:
        case "tools":
            return _are_tools(word, flag, is_tool)
        case "directories":
            path = word.startswith(("/", "./", "../", "~/")) and not re.search(r"\s", word)
            return (path and "/" in word[1:]) or os.path.isdir(os.path.expanduser(word))  # noqa: PTH111, PTH112
        case "files":
            return word.lstrip().startswith("{") or word.endswith(".json")
        case "areas":
            return all(part.removeprefix("!") in AREAS for part in word.split(","))
        case _:
            return True


def _are_tools(word: str, flag: Flag, is_tool: Callable[[str], bool]) -> bool:
    """A preset is one where it stands alone or behind a comma; "grep core" is said to the model."""
    parts = split(word)
    named = [part for part in parts if part not in flag.presets]
    if len(named) < len(parts) and len(parts) > 1 and "," not in word:
        return False
    return len(named) < len(parts) if not named else _are_rules(named, is_tool)


def _are_rules(parts: Sequence[str], is_tool: Callable[[str], bool]) -> bool:
    """A single word that looks like a tool is one, for a denial must not be lost to a typing
    error; of several at least one must be known, or "Explain This" were none."""
    known = [is_tool(part.partition("(")[0]) for part in parts]
    shaped = all(know or RULE.fullmatch(part) for know, part in zip(known, parts, strict=True))
    return bool(parts) and shaped and (len(parts) == 1 or any(known))


def _no_flag(word: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 3 ms, for a flag that is none

    name = word.partition("=")[0].split()[0]
    known = [each for each, flag in BY_NAME.items() if not flag.hidden]
    found = get_close_matches(name, known, n=4, cutoff=0.7)
    near = list({BY_NAME[each].field: each for each in reversed(found)}.values())[::-1][:2]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    if name != word and not near:
        hint = ' A prompt that begins with a dash goes behind two: agent -p -- "-..."'
    return f"There is no flag {_short(name)}.{hint}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


def convert(flag: Flag, value: str, name: str) -> Any:
    """The value of one occurrence. Raises Conflict when it is not valid."""
    match flag.kind:
        case "integer":
            if value.isascii() and value.isdigit():
                return int(value)
            hint = " It takes a whole number."
        case "number":
            if _is_number(value):
                return float(value)
            hint = " It takes a number."
        case "list":
            return split(value)
        case "repeat":
            return (value,)
        case _:
            if not flag.choices or value in flag.choices:
                return value
            hint = f" Choose one of {', '.join(flag.choices)}."
    raise Conflict(f'{name} cannot be "{_short(value)}".{hint}')


def _is_number(value: str) -> bool:
    whole, _, part = value.partition(".")
    return value.isascii() and (whole + part).isdigit()


def split(value: str) -> tuple[str, ...]:
    """Part at commas and spaces that stand outside parentheses."""
    parts: list[str] = []
    depth, start = 0, 0
    for at, char in enumerate(value):
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif char in ", \t\n" and not depth:
            parts.append(value[start:at])
            start = at + 1
    parts.append(value[start:])
    return tuple(part for part in parts if part)
