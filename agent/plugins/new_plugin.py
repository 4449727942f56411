"""A new plugin's directory, to be filled in: it is valid as it is."""

from __future__ import annotations

import json
from pathlib import Path

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.manifest import FILE, PLACES, wrong_name

SKILL = """---
name: {name}
description: Say what this skill does and when to use it
---
Write here, step by step, what is to be done.
"""


def write_plugin(folder: Path, name: str, *, description: str = "", author: str = "") -> Path:
    """Raises GatewrightError where there is something already, or the name is none."""
    if why := wrong_name(name):
        raise GatewrightError(f"The name {name!r} {why}.")
    root = folder / name
    if root.exists():
        raise GatewrightError(f"{root} is there already.")
    manifest = {
        "name": name,
        "version": "0.1.0",
        "description": description or f"What {name} is for",
        "author": {"name": author or "Your name"},
    }
    _write(root / PLACES[-1] / FILE, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    _write(root / "skills" / name / "SKILL.md", SKILL.format(name=name))
    return root


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GatewrightError(f"{path} cannot be written: {error.strerror or error}.") from error
