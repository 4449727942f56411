"""What of a question is read at a key: a change within its file, a new file, or a folded script.

The file is read as it is now; where it is not what the change was made for, that stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gatewright.tools.blocks import Code, Diff, Hunk
from gatewright.tools.interact import Ask
from gatewright.tools.system.regular import read_regular

MAX_BYTES = 2_000_000


def diff_of(ask: Ask) -> Diff | None:
    """The change that is asked about, where it is one of a single file."""
    diffs = [block for block in ask.body if isinstance(block, Diff)]
    return diffs[0] if ask.kind == "permission" and len(diffs) == 1 else None


def script_of(ask: Ask) -> Code | None:
    """The code that stands folded in it, where it is one."""
    folded = [block for block in ask.body if isinstance(block, Code) and block.folded]
    return folded[0] if len(folded) == 1 else None


def new_of(ask: Ask) -> Code | None:
    """The new file that is asked about, where that is all of it."""
    new = [block for block in ask.body if isinstance(block, Code) and not block.folded]
    return new[0] if ask.kind == "permission" and len(new) == 1 and new[0].path else None


def to_read(ask: Ask) -> Diff | Code | None:
    return diff_of(ask) or script_of(ask) or new_of(ask)


def whole(diff: Diff, root: Path, home: Path) -> Diff:
    """The change with every line of the file around it."""
    path = home / diff.path[2:] if diff.path.startswith("~/") else root / diff.path
    try:
        lines = read_regular(path, MAX_BYTES).decode("utf-8").split("\n")
    except (OSError, ValueError):
        return diff
    if lines and not lines[-1]:
        lines.pop()
    made = _filled(diff.hunks, [line.removesuffix("\r") for line in lines])
    if made is None:
        return diff
    return Diff(diff.path, (Hunk(1, 1, tuple(made)),), diff.added, diff.removed)


def _filled(hunks: Sequence[Hunk], lines: Sequence[str]) -> list[str] | None:
    """What is between the hunks added to them; None where they are of another text."""
    made: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - 1
        old = [line[1:] for line in hunk.lines if line[:1] in " -"]
        if start < at or list(lines[start : start + len(old)]) != old:
            return None
        made += [f" {line}" for line in lines[at:start]]
        made += hunk.lines
        at = start + len(old)
    return [*made, *(f" {line}" for line in lines[at:])]
