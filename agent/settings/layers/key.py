"""Dotted keys: a name that holds dots itself, such as a folder's, stands in quotes."""

from __future__ import annotations

import json
from collections.abc import Iterable


def spelled(parts: Iterable[str]) -> str:
    """`projects."/home/sam/a.b".permissions.allow`"""
    return ".".join(map(_quoted, parts))


def parts_of(key: str) -> list[str]:
    """The names of a dotted key; quotes that do not end are part of a name."""
    found: list[str] = []
    at = 0
    while at <= len(key):
        if key[at : at + 1] == '"':
            try:
                name, end = json.JSONDecoder().raw_decode(key, at)
            except ValueError:
                end = -1
            else:
                if key[end : end + 1] in ("", "."):
                    found.append(str(name))
                    at = end + 1
                    continue
        end = key.find(".", at)
        end = len(key) if end < 0 else end
        found.append(key[at:end])
        at = end + 1
    return found


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False) if "." in name or name[:1] == '"' else name
