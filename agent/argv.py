"""Turn a command line into LaunchOptions: a fast parser for those it fully understands.

For everything else it returns None and the typer application in `agent/cli.py` explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gatewright.agent.flags import BY_NAME, Flag
from gatewright.agent.options import LaunchOptions


class Conflict(ValueError):
    """Flags that contradict each other; its text is for the person."""


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


def parse(argv: Sequence[str]) -> LaunchOptions | None:
    """Read a plain command line; None when anything in it is not plain.

    Raises Conflict for flags that contradict each other.
    """
    given = Given()
    words: list[str] = []
    rest = list(reversed(argv))
    while rest:
        word = rest.pop()
        if word == "--":
            words += reversed(rest)
            break
        if not word.startswith("-") or word == "-":
            words.append(word)
        elif not _take_flag(word, rest, given):
            return None
    return finish(given, "".join(words)) if len(words) <= 1 else None


def _take_flag(word: str, rest: list[str], given: Given) -> bool:
    """Read one flag, and its value from `rest`; False when it is not plain."""
    name, joined, value = word.partition("=")
    flag = BY_NAME.get(name)
    if flag is None or (joined and (flag.kind == "switch" or not name.startswith("--"))):
        return False
    if flag.kind == "switch":
        given.put(flag, flag.value, name)
        return True
    if not joined:
        if rest and _is_value(rest[-1], flag):
            value = rest.pop()
        elif flag.kind != "optional":
            return False
    read = convert(flag, value)
    if read is None:
        return False
    given.put(flag, read, name)
    return True


def _is_value(word: str, flag: Flag) -> bool:
    """A word behind a flag is its value; an optional value never looks like a flag."""
    return flag.kind != "optional" or not word.startswith("-")


def convert(flag: Flag, value: str) -> Any:
    """The value of one occurrence, or None when it is not valid."""
    match flag.kind:
        case "integer":
            return int(value) if value.isascii() and value.isdigit() else None
        case "number":
            return float(value) if _is_number(value) else None
        case "list":
            return split(value)
        case "repeat":
            return (value,)
        case _:
            return value if not flag.choices or value in flag.choices else None


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


def finish(given: Given, prompt: str) -> LaunchOptions:
    options = LaunchOptions(prompt=prompt, **given.values)
    check(options)
    return options


def check(options: LaunchOptions) -> None:
    """Raise Conflict for combinations that mean nothing."""
    for wrong, sentence in _contradictions(options):
        if wrong:
            raise Conflict(sentence)


def _contradictions(o: LaunchOptions) -> tuple[tuple[bool, str], ...]:
    resumes = o.continue_session or o.resume is not None
    streams = o.output_format == "stream-json"
    return (
        (
            o.continue_session and o.resume is not None,
            "--continue and --resume contradict each other: give one of them.",
        ),
        (
            bool(o.session_id) and resumes and not o.fork_session,
            "--session-id names a new session; with --continue or --resume add --fork-session.",
        ),
        (
            o.fork_session and not resumes,
            "--fork-session needs a session to copy: add --continue or --resume.",
        ),
        (o.plain and o.print_mode, "--plain converses and --print does not: give one of them."),
        (
            o.input_format == "stream-json" and not streams,
            "--input-format stream-json needs --output-format stream-json.",
        ),
        (
            o.include_partial_messages and not streams,
            "--include-partial-messages needs --output-format stream-json.",
        ),
        (
            o.replay_user_messages and o.input_format != "stream-json",
            "--replay-user-messages needs --input-format stream-json.",
        ),
        (
            o.system_prompt is not None and bool(o.system_prompt_file),
            "--system-prompt and --system-prompt-file contradict each other: give one of them.",
        ),
        (
            bool(o.append_system_prompt) and bool(o.append_system_prompt_file),
            "--append-system-prompt and --append-system-prompt-file contradict each other: "
            "give one of them.",
        ),
        (bool(o.replay) and o.model not in ("", "demo"), "--replay works with --model demo only."),
        (o.max_turns == 0, "--max-turns must be at least 1."),
        (o.max_budget_usd == 0, "--max-budget-usd must be above 0."),
        (
            o.setting_sources is not None
            and not set(o.setting_sources) <= {"user", "project", "local"},
            "--setting-sources takes a list of user, project and local.",
        ),
    )
