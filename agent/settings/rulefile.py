"""Permission rules in one settings file: add and remove, leaving all else as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.edit import edit

BEHAVIORS = ("allow", "ask", "deny")


def add_rule(path: Path, behavior: str, rule: str) -> bool:
    """False when it was there already."""
    added = False

    def change(values: dict[str, Any]) -> None:
        nonlocal added
        found = _entries(_lists(path, values).setdefault(behavior, []))
        if found is None:
            raise SettingsError(f"{path}: permissions.{behavior} is no list; correct it first.")
        if rule not in map(_text, found):
            found.append(rule)
            added = True

    edit(path, change)
    return added


def remove_rule(path: Path, rule: str) -> list[str]:
    """The lists it was in."""
    removed: list[str] = []

    def change(values: dict[str, Any]) -> None:
        lists = _lists(path, values)
        for behavior in BEHAVIORS:
            found = _entries(lists.get(behavior)) or []
            kept = [entry for entry in found if _text(entry) != rule]
            if len(kept) != len(found):
                removed.append(behavior)
                lists[behavior] = kept

    if path.exists():
        edit(path, change)
    return removed


def _lists(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    lists = values.setdefault("permissions", {})
    if not isinstance(lists, dict):
        raise SettingsError(f"{path}: permissions is no object; correct it first.")
    return cast("dict[str, Any]", lists)


def _entries(rules: object) -> list[object] | None:
    return cast("list[object]", rules) if isinstance(rules, list) else None


def _text(entry: object) -> object:
    return cast("dict[str, Any]", entry).get("rule") if isinstance(entry, dict) else entry
