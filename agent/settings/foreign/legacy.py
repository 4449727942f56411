"""Permissions as older agents wrote them, read from `config.json` beside the settings.

They count like the settings they lie beside. What cannot be read for sure never permits: an
allowed pattern is left out, a denied one makes every command ask.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from gatewright.agent.settings.traits import Source
from gatewright.tools.system.patterns import later
from gatewright.tools.system.untyped_json import items, obj

FILES = {
    Source.LOCAL: "config.local.json",
    Source.PROJECT: "config.json",
    Source.USER: "config.json",
}
_RULE = later(r"[A-Z][A-Za-z]*(\(.+\))?|mcp__\w+", re.DOTALL)
_REGEX = later(r"[\^$\\|+]|\.\*|\(\?")
EVERY_COMMAND = "Bash"


def beside(settings: Path, source: Source) -> Path | None:
    """The old file of a layer, if it may have one."""
    name = FILES.get(source)
    return None if name is None else settings.with_name(name)


def label(source: Source) -> str:
    """How rules from there are shown: the project's are weighed like the project's settings."""
    return "legacy" if source is Source.USER else f"legacy-{source}"


def translated(raw: dict[str, Any], complain: Callable[[str, str], None]) -> dict[str, Any]:
    """The old keys as settings; every other key belongs to somebody else."""
    old = obj(raw.get("permission"))
    permissions: dict[str, Any] = {}
    mode = old.get("mode", raw.get("permissionMode"))
    if mode is not None:
        permissions["defaultMode"] = mode
    allow: list[Any] = []
    for key in ("alwaysAllowTools", "allowedTools"):
        allow += _entries(raw.get(key), key, complain)
    for entry in _entries(old.get("allowedPatterns"), "permission.allowedPatterns", complain):
        if _is_regex(entry):
            complain("permission.allowedPatterns", f'"{entry}" is no pattern of ours: ignored')
        else:
            allow.append(_rule(entry))
    denied = old.get("deniedPatterns")
    deny, ask = _denied([denied] if isinstance(denied, str) else denied, complain)
    lists = {"allow": allow, "ask": ask, "deny": deny}
    permissions.update({name: entries for name, entries in lists.items() if entries})
    return {"permissions": permissions} if permissions else {}


def _denied(value: Any, complain: Callable[[str, str], None]) -> tuple[list[str], list[str]]:
    key = "permission.deniedPatterns"
    if value is None:
        return [], []
    deny: list[str] = []
    ask: list[str] = []
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    for entry in entries:
        if isinstance(entry, str) and not _is_regex(entry):
            deny.append(_rule(entry))
            continue
        complain(key, f"{entry!r:.60} is no pattern of ours: every command asks instead")
        ask = [EVERY_COMMAND]
    return deny, ask


def _entries(value: Any, key: str, complain: Callable[[str, str], None]) -> list[str]:
    if value is None:
        return []
    texts = [entry for entry in items(value) if isinstance(entry, str)]
    if texts != value:
        complain(key, "expected a list of texts; the rest is ignored")
    return texts


def _rule(pattern: str) -> str:
    """A pattern that is no rule yet is about commands."""
    return pattern if _RULE.fullmatch(pattern.strip()) else f"{EVERY_COMMAND}({pattern})"


def _is_regex(pattern: str) -> bool:
    return _RULE.fullmatch(pattern.strip()) is None and _REGEX.search(pattern) is not None
