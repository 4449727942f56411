"""Which files a plain command has shown in full view: then they count as read."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from gatewright.tools.files import fs
from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.system.exact import real_path
from gatewright.tools.system.patterns import later

_SHELL = later(r"[|&;<>$`*?\[\]{}~\n\\!#()]")
_SHOWING = frozenset({"cat", "nl", "head", "tail", "bat"})
_LARGEST = 8 * 1024 * 1024


def note_shown(command: str, cwd: Path, ctx: ToolContext) -> None:
    """Note the files of `cat a b` and its like; anything with shell syntax shows nothing."""
    for name in _operands(command):
        path = cwd / name
        try:
            ctx.ledger.note(path, fs.reading(Path(real_path(path)), limit=_LARGEST))
        except (OSError, ToolFailure):
            continue


def _operands(command: str) -> Sequence[str]:
    if _SHELL.search(command):
        return ()
    try:
        program, *words = shlex.split(command)
    except ValueError:
        return ()
    if program == "sed" and words[:1] == ["-n"] and len(words) == 3:
        return words[2:]
    if program not in _SHOWING:
        return ()
    return [word for word in words if not word.startswith(("-", "+"))]
