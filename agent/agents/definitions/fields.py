"""The fields of a definition, each read by its own rule; a wrong one says what would be right.

A field that limits (tools, mode, hooks, turns, money, place of work) and cannot be read makes the
definition unusable: what somebody meant to forbid is never left out. Any other is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, cast, get_args

import msgspec

from gatewright.agent.agents.definitions.tool_lists import named, read_denied, read_tools
from gatewright.agent.agents.kind import WORKTREE
from gatewright.agent.settings import modes
from gatewright.agent.settings.schema import Effort
from gatewright.tools.system.untyped_json import obj

EFFORTS: tuple[str, ...] = get_args(Effort)
MEMORIES = ("user", "project", "local")
COLORS = ("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan")
PROMPT = "prompt"  # the text, where a definition is no file
LIMITING = frozenset(
    {"tools", "disallowedTools", "permissionMode", "hooks", "maxTurns", "maxBudgetUsd", "isolation",
     "requiredMcpServers", "acp"}
)  # fmt: skip
LOOKED_AT = 100  # keys of one definition that are compared with ours
Read = Callable[[Any], dict[str, object]]


def _text(field: str) -> Read:
    def read(value: Any) -> dict[str, object]:
        if not isinstance(value, str):
            raise ValueError("is no text")
        return {field: value.strip()}

    return read


def _flag(field: str) -> Read:
    def read(value: Any) -> dict[str, object]:
        words = {"yes": True, "true": True, "on": True, "1": True}
        words |= {"no": False, "false": False, "off": False, "0": False}
        known = value if isinstance(value, bool) else words.get(str(value).strip().casefold())
        if known is None:
            raise ValueError("is neither true nor false")
        return {field: known}

    return read


def _number(field: str, *, whole: bool) -> Read:
    def read(value: Any) -> dict[str, object]:
        try:
            found = None if isinstance(value, bool) else (int if whole else float)(value)
        except (TypeError, ValueError):
            found = None
        if (
            found is None
            or not 0 < found < 1e9
            or (whole and found != value and str(found) != value)
        ):
            raise ValueError("is no number above 0")
        return {field: found}

    return read


def _names(field: str) -> Read:
    return lambda value: {field: tuple(dict.fromkeys(named(value)))}


def _one_of(field: str, choices: tuple[str, ...]) -> Read:
    def read(value: Any) -> dict[str, object]:
        word = value.strip().casefold() if isinstance(value, str) else ""
        if word not in choices:
            raise ValueError(f"is none of {', '.join(choices)}")
        return {field: word}

    return read


def _table(field: str) -> Read:
    def read(value: Any) -> dict[str, object]:
        if not isinstance(value, dict):
            raise ValueError("is no table of keys")
        return {field: cast("dict[str, object]", value)}

    return read


def _tools(value: Any) -> dict[str, object]:
    found = read_tools(value)
    return {"tools": found.names, "starts": found.starts}


def _mode(value: Any) -> dict[str, object]:
    if why := modes.named(value, subagent=True) if isinstance(value, str) else "is no text":
        raise ValueError(why)
    return {"mode": "" if modes.folded(value) == modes.FOLLOW_PARENT else value.strip()}


def _model(value: Any) -> dict[str, object]:
    found = _text("model")(value)
    return {"model": ""} if str(found["model"]).casefold() == "inherit" else found


def _servers(value: Any) -> dict[str, object]:
    """Names, and tables of a server each; or one table of servers by name."""
    if not isinstance(value, dict | str | list):
        raise ValueError("is no list of servers")
    entries = cast("list[object]", value if isinstance(value, list) else [value])
    names: list[str] = []
    inline: dict[str, object] = {}
    for entry in entries:
        if isinstance(entry, str):
            names += named(entry)
            continue
        for name, server in obj(entry).items():
            if server is None:
                names.append(name)
            elif isinstance(server, dict):
                inline[name] = cast("dict[str, object]", server)
            else:
                raise ValueError(f"says of {name[:60]} what is no table of keys")
        if not isinstance(entry, dict):
            raise ValueError("holds what is neither a name nor a server")
    return {"servers": tuple(dict.fromkeys(names)), "inline_servers": inline}


def _program(value: Any) -> dict[str, object]:
    from gatewright.agent.agents.definitions.programs import read_program  # noqa: PLC0415  rare

    return read_program(value)


FIELDS: Mapping[str, Read] = {
    "description": _text("description"),
    "tools": _tools,
    "disallowedTools": lambda value: {"denied": read_denied(value)},
    "model": _model,
    "effort": _one_of("effort", EFFORTS),
    "maxTurns": _number("max_turns", whole=True),
    "maxBudgetUsd": _number("max_budget_usd", whole=False),
    "permissionMode": _mode,
    "skills": _names("skills"),
    "mcpServers": _servers,
    "requiredMcpServers": _names("required_servers"),
    "hooks": _table("hooks"),
    "memory": _one_of("memory", MEMORIES),
    "background": _flag("background"),
    "isolation": _one_of("isolation", (WORKTREE,)),
    "color": _one_of("color", COLORS),
    "initialPrompt": _text("initial_prompt"),
    "omitMemory": _flag("omit_memory"),
    "acp": _program,
}
KNOWN = ("name", *FIELDS)
_KEBAB = tuple(re.sub("([A-Z])", lambda found: f"-{found[1].lower()}", key) for key in KNOWN)
# Every spelling that counts, the usual one first.
SPELLINGS = dict.fromkeys(
    (*KNOWN, *_KEBAB, *(key.replace("-", "_") for key in _KEBAB), *(key.lower() for key in KNOWN))
)


def folded(key: str) -> str:
    """A key in one spelling: `disallowed-tools` is disallowedTools."""
    return key.casefold().replace("-", "").replace("_", "")


BY_FOLDED: Mapping[str, str] = {folded(key): key for key in KNOWN}


class Wrong(msgspec.Struct, frozen=True):
    """A field that cannot be read, and whether nothing of the definition can be used."""

    key: str  # as it is written
    text: str
    fatal: bool


def read_fields(values: Mapping[str, Any]) -> tuple[dict[str, object], tuple[Wrong, ...]]:
    """The fields of a kind, and what is wrong. A field that says null is not there."""
    found: dict[str, object] = {}
    wrong: list[Wrong] = []
    for key, value in values.items():
        name = BY_FOLDED.get(folded(key), "")
        if value is None or name not in FIELDS:
            continue
        try:
            found |= FIELDS[name](value)
        except ValueError as error:
            fatal = name in LIMITING
            left = "" if fatal else ", so it is left out"
            wrong.append(Wrong(key, f"{key} {error}{left}", fatal))
    return found, tuple(wrong)


def misspelt(values: Mapping[str, Any]) -> Iterator[Wrong]:
    """Keys that were probably meant to limit something, and limit nothing as they are written."""
    for key in islice(values, LOOKED_AT):
        if folded(key) not in BY_FOLDED and (meant := nearest(key, LIMITING, 0.85)):
            yield Wrong(key, f"there is no field {key[:60]!r}, did you mean {meant}", False)


def nearest(key: str, names: Iterable[str], cutoff: float = 0.7) -> str:
    """Which of the fields was meant; empty where it is like none of them."""
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 3 ms, for a key that is none

    spelt = {folded(name): name for name in names}
    near = get_close_matches(folded(key), spelt, n=1, cutoff=cutoff)
    return spelt[near[0]] if near else ""
