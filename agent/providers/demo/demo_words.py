"""The small set of requests the demo understands, read by plain patterns."""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec


class Tour(msgspec.Struct, frozen=True):
    pass


class Find(msgspec.Struct, frozen=True):
    what: str


class ReadFile(msgspec.Struct, frozen=True):
    path: str


class Run(msgspec.Struct, frozen=True):
    command: str


class Replace(msgspec.Struct, frozen=True):
    old: str
    new: str
    path: str


class Create(msgspec.Struct, frozen=True):
    path: str
    content: str


class Plan(msgspec.Struct, frozen=True):
    goal: str


class Todo(msgspec.Struct, frozen=True):
    pass


Wish: TypeAlias = Tour | Find | ReadFile | Run | Replace | Create | Plan | Todo

HELP = """This is the demo: it works offline and there is no model behind it. It understands

- `tour` - a walk through this project
- `find TODO` or `grep TODO` - search the files
- `read README.md` - show a file
- `run git status` - run a command
- `replace "old" by "new" in notes.txt` - change a file
- `create notes.txt with some text` - write a file
- `plan` and `todo` - how plans and task lists look

Everything it does goes through the same tools, permissions and transcript as with a real model.
For one, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run `agent login`."""

_END = r"\s*[.?!]?\s*$"


def _one(name: str, plain: str) -> str:
    """Something in quotes of any kind, or plain."""
    return (
        rf"(?:\"(?P<{name}_d>[^\"]+)\"|'(?P<{name}_s>[^']+)'|`(?P<{name}_b>[^`]+)`"
        rf"|(?P<{name}_p>{plain}))"
    )


_OLD, _NEW, _PATH = _one("old", ".+?"), _one("new", ".*?"), _one("path", r"\S+?")
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("replace", rf"replace\s+{_OLD}\s+(?:by|with)\s+{_NEW}\s+in\s+{_PATH}{_END}"),
    (
        "create",
        rf"(?:create|write)\s+(?:a file\s+)?{_PATH}"
        r"(?:\s+(?:with|containing|:)\s*(?P<content>.+))?\s*$",
    ),
    ("run", r"run\s+(?P<command>.+?)\s*$"),
    ("find", rf"(?:find|grep|search(?:\s+for)?)\s+{_one('what', '.+?')}{_END}"),
    ("read", rf"(?:read|show|cat|open)\s+{_PATH}{_END}"),
    ("tour", r"(?:.*\s)?tour(?:\s.*|[.!?])?$"),
    ("plan", r"plan(?:\s+(?P<goal>.+?))?\s*$"),
    ("todo", r"to-?dos?(?:\s.*)?$"),
)
_COMPILED = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.DOTALL)) for name, pattern in _PATTERNS
)


def parse(text: str) -> Wish | None:
    """What is asked for, or None where the demo does not understand."""
    wanted = re.sub(r"^(please|can you|could you)\s+", "", text.strip(), flags=re.IGNORECASE)
    for name, pattern in _COMPILED:
        if match := pattern.match(wanted):
            return _wish(name, match)
    return None


def _wish(name: str, match: re.Match[str]) -> Wish:
    def field(key: str) -> str:
        values = (match[f"{key}_{form}"] for form in "dsbp")
        return next((value for value in values if value is not None), "")

    match name:
        case "replace":
            return Replace(field("old"), field("new"), field("path"))
        case "create":
            return Create(field("path"), match["content"] or "")
        case "run":
            command: str = match["command"]
            quoted = len(command) > 2 and command[0] == command[-1] == "`"
            return Run(command[1:-1] if quoted else command)
        case "find":
            return Find(field("what"))
        case "read":
            return ReadFile(field("path"))
        case "plan":
            return Plan(match["goal"] or "")
        case "todo":
            return Todo()
        case _:
            return Tour()
