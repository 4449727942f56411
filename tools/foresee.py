"""What a change would do to a file as it is now, for the question whether it may.

A guess for the eyes only: what runs later looks again, and refuses if the file is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gatewright.tools import fs
from gatewright.tools.access import Where
from gatewright.tools.blocks import Diff
from gatewright.tools.diff import diff
from gatewright.tools.protocol import ToolFailure

LARGEST = 2 * 1024 * 1024  # above, matching and comparing would keep the person waiting


def foresee(path: Path, where: Where, changed: Callable[[str], tuple[str, str]]) -> Sequence[Diff]:
    """The difference of the two texts `changed` makes of the file's; nothing if it cannot."""
    try:
        if path.stat().st_size > LARGEST:
            return ()
        before, after = changed(fs.decode(fs.reading(path)).text)
    except (OSError, ValueError, ToolFailure):
        return ()
    return (diff(where.shown(path), before, after),)
