"""Hook scripts of the tests, and settings that name them."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any


def script(folder: Path, name: str, body: str) -> str:
    """An executable shell script; its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def command(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **more}


def hooks(event: str, *handlers: dict[str, Any], matcher: str = "") -> dict[str, Any]:
    group: dict[str, Any] = {"hooks": list(handlers)}
    if matcher:
        group["matcher"] = matcher
    return {"hooks": {event: [group]}}


def says(value: Any, exit: int = 0) -> str:
    """A command that prints this JSON."""
    text = json.dumps(value).replace("'", "'\\''")
    return f"printf '%s' '{text}'; exit {exit}"


def part(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}
