"""Writing the draft in the person's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

FALLBACKS = ("nano", "vim", "vi")


def editor(env: Mapping[str, str]) -> list[str]:
    """The command the person set, else the first that exists."""
    chosen = env.get("VISUAL") or env.get("EDITOR")
    if chosen:
        return shlex.split(chosen)
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    for name in FALLBACKS:
        if any((Path(folder) / name).exists() for folder in folders):
            return [name]
    return []


def edited(text: str, env: Mapping[str, str], *, suffix: str = ".md") -> str | None:
    """The text after editing, or None when there is no editor or it failed.

    Blocks: the terminal is the editor's meanwhile.
    """
    command = editor(env)
    if not command:
        return None
    with tempfile.TemporaryDirectory(prefix="agent-") as folder:
        path = Path(folder) / f"message{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*command, str(path)], check=False)
        except OSError:
            return None
        if done.returncode != 0:
            return None
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
