"""Permission rules in one settings file: add and remove, leaving all else as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from gatewright.agent.settings.edit import edit, entries, section

Behavior: TypeAlias = Literal["allow", "ask", "deny"]
BEHAVIORS: tuple[Behavior, ...] = ("allow", "ask", "deny")


def add_rule(path: Path, behavior: str, rule: str) -> bool:
    """False when it was there already."""
    added = False

    def change(values: dict[str, Any]) -> None:
        nonlocal added
        found = entries(path, section(path, values, "permissions"), behavior)
        if rule not in map(text_of, found):
            found.append(rule)
            added = True

    edit(path, change)
    return added


def remove_rule(path: Path, rule: str) -> list[str]:
    """The lists it was in."""
    removed: list[str] = []

    def change(values: dict[str, Any]) -> None:
        lists = section(path, values, "permissions")
        for behavior in filter(lists.__contains__, BEHAVIORS):
            found = entries(path, lists, behavior)
            kept = [entry for entry in found if text_of(entry) != rule]
            if len(kept) != len(found):
                removed.append(behavior)
                lists[behavior] = kept

    if path.exists():
        edit(path, change)
    return removed


def text_of(entry: object) -> str:
    """The rule itself, of an entry with or without notes; empty where it is neither."""
    rule = cast("dict[str, Any]", entry).get("rule") if isinstance(entry, dict) else entry
    return rule if isinstance(rule, str) else ""
