"""The lists of tools in a definition: names, `mcp__server`, rules as Bash(git:*), Agent(a, b).

A list is text with commas, where those in brackets part nothing, or a list of such texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

AGENT = "Agent"
_AGENT_NAMES = frozenset({"agent", "task"})
_EVERYTHING = frozenset({"*", "all tools", "all"})
MOST = 500  # names of one list


class ToolList(msgspec.Struct, frozen=True):
    """`names` None: every tool. `starts` are the kinds of agents that may be started; None: all."""

    names: tuple[str, ...] | None = None
    starts: tuple[str, ...] | None = None


def read_tools(value: object) -> ToolList:
    """What `tools` says. Raises ValueError where it is no list of names."""
    texts = list(named(value))
    if any(text.casefold() in _EVERYTHING for text in texts):
        return ToolList(None, _kinds(texts))
    names = (AGENT if _is_agent(text) else text for text in texts)
    return ToolList(tuple(dict.fromkeys(names)), _kinds(texts))


def read_denied(value: object) -> tuple[str, ...]:
    """What `disallowedTools` says: rules, an agent's under its present name."""
    texts = (f"{AGENT}{text[4:]}" if _older(text) else text for text in named(value))
    return tuple(dict.fromkeys(texts))


def named(value: object) -> Iterator[str]:
    """The texts of a list. Raises ValueError for what is neither text nor a list of texts."""
    if isinstance(value, str):
        yield from parted(value)
        return
    if not isinstance(value, list | tuple):
        raise ValueError("is no list of names")
    given = cast("Sequence[object]", value)
    if len(given) > MOST:
        raise ValueError(f"has more than {MOST} names")
    for each in given:
        if not isinstance(each, str):
            raise ValueError("holds what is no name")
        yield from parted(each)


def parted(text: str) -> Iterator[str]:
    """The parts between commas, but for commas in brackets; quotes around one are no part of it."""
    depth, start = 0, 0
    for index, char in enumerate(f"{text},"):
        depth += (char == "(") - (char == ")")
        if char == "," and (depth <= 0 or index == len(text)):
            if part := text[start:index].strip().strip("\"'").strip():
                yield part
            start = index + 1


def _is_agent(text: str) -> bool:
    return text.partition("(")[0].strip().casefold() in _AGENT_NAMES


def _older(text: str) -> bool:
    return text.partition("(")[0].strip().casefold() == "task"


def _kinds(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Of every Agent(...) together; one without brackets means all."""
    found: list[str] = []
    limited = False
    for text in filter(_is_agent, texts):
        _, bracket, inside = text.partition("(")
        if not bracket:
            return None
        limited = True
        found += parted(inside.rstrip().removesuffix(")"))
    if not limited or "*" in found:
        return None
    return tuple(dict.fromkeys(found))
