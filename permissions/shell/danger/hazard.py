"""One dangerous thing a line would do."""

from __future__ import annotations

import msgspec

from gatewright.permissions.shell.files.operand import Operand


class Hazard(msgspec.Struct, frozen=True):
    """One finding. `files`: what it destroys, when that is all it does; None otherwise."""

    level: int  # 1 dangerous, 2 catastrophic
    text: str
    source: str = ""
    files: tuple[Operand, ...] | None = None
    git_loss: bool = False
    deletes: bool = False  # `files` are gone or emptied, rather than changed in another way
