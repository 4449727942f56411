"""The case tables as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gatewright.permissions.check import check_line

TABLES = Path(__file__).resolve().parents[1] / "tables"


def load(name: str) -> list[dict[str, Any]]:
    text = (TABLES / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def judge(case: Mapping[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(check_line(json.dumps(case).encode("utf-8")))
    return answer


def judge_shell(case: Mapping[str, Any]) -> dict[str, Any]:
    command = {"command": case["command"]}
    return judge({"id": case["id"], "tool": "Bash", "input": command, "context": case["context"]})
