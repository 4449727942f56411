"""Permission rules in one settings file: add and remove, leaving all else as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from gatewright.agent.settings.edit import edit, entries, read_object, section
from gatewright.tools.system.untyped_json import items, obj

Behavior: TypeAlias = Literal["allow", "ask", "deny"]
BEHAVIORS: tuple[Behavior, ...] = ("allow", "ask", "deny")


def add_rule(path: Path, behavior: str, rule: str) -> bool:
    """False when it was there already."""
    return put_entry(path, ("permissions", behavior), rule)


def remove_rule(path: Path, rule: str) -> list[str]:
    """The lists it was in."""
    return [name for name in BEHAVIORS if take_entry(path, ("permissions", name), rule)]


def put_entry(path: Path, at: Sequence[str], entry: object, index: int | None = None) -> bool:
    """Put a text or a rule with its notes into the list at these keys, at the end or where it was.

    False when it was there already.
    """
    added = False

    def change(values: dict[str, Any]) -> None:
        nonlocal added
        found = entries(path, section(path, values, *at[:-1]), at[-1])
        if text_of(entry) not in map(text_of, found):
            found.insert(len(found) if index is None else index, entry)
            added = True

    edit(path, change)
    return added


def take_entry(path: Path, at: Sequence[str], text: str) -> list[tuple[int, object]]:
    """Take a text out of the list at these keys; returns what it was, with its place."""
    taken: list[tuple[int, object]] = []

    def change(values: dict[str, Any]) -> None:
        found = entries(path, section(path, values, *at[:-1]), at[-1])
        taken.extend((n, entry) for n, entry in enumerate(found) if text_of(entry) == text)
        found[:] = [entry for entry in found if text_of(entry) != text]

    if any(text_of(entry) == text for entry in _list_at(path, at)):
        edit(path, change)
    return taken


def _list_at(path: Path, at: Sequence[str]) -> list[object]:
    """What is there now: a file that holds no such entry is not written to."""
    values: object = read_object(path)
    for key in at:
        values = obj(values).get(key)
    return items(values)


def text_of(entry: object) -> str:
    """The rule itself, of an entry with or without notes; empty where it is neither."""
    rule = cast("dict[str, Any]", entry).get("rule") if isinstance(entry, dict) else entry
    return rule if isinstance(rule, str) else ""
