"""One dangerous thing a line would do."""

from __future__ import annotations

from dataclasses import dataclass

from gatewright.permissions.shell.files.operand import Operand


@dataclass(frozen=True, slots=True)
class Hazard:
    """One finding. `files`: what it destroys, when that is all it does; None otherwise."""

    level: int  # 1 dangerous, 2 catastrophic
    text: str
    source: str = ""
    files: tuple[Operand, ...] | None = None
    git_loss: bool = False
    deletes: bool = False  # `files` are gone or emptied, rather than changed in another way
