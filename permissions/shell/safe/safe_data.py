"""Reads the tables of what is safe: rows of facts, each with examples that only tests look at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

Rows: TypeAlias = Mapping[str, Mapping[str, Any]]
EXAMPLES = frozenset({"yes", "no"})


def read(name: str) -> dict[str, Any]:
    """A file beside this one."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name(name).read_text("utf-8"))
    return found


def read_rows(name: str) -> dict[str, dict[str, Any]]:
    return plain(read(name))


def plain(rows: Rows) -> dict[str, dict[str, Any]]:
    """What the rows say without their examples, lines of words joined and lists fixed."""
    return {
        name: {key: _fixed(key, row[key]) for key in row.keys() - EXAMPLES}
        for name, row in rows.items()
    }


def _fixed(key: str, value: Any) -> Any:
    if key == "long":
        return " ".join(value)
    return tuple(value) if isinstance(value, list) else value
