"""Reads the tables about programs: rows of facts, some with examples that only tests look at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

EXAMPLES = frozenset({"yes", "no"})


def read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def rows(table: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the rows say without their examples, each under every name it has."""
    found: dict[str, dict[str, Any]] = {}
    for name, row in table.items():
        said = {key: _fixed(value) for key, value in row.items() if key not in EXAMPLES}
        found |= dict.fromkeys((name, *said.pop("also", ())), said)
    return found


def _fixed(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return tuple(_fixed(item) for item in cast("list[object]", value))
