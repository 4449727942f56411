"""What a script of a workflow is once it was checked: its text and the data it says of itself.

Nothing of it has run: `meta` is read from the text, and a script that cannot be read is a problem
with a place.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gatewright.agent.errors import GatewrightError

MOST_BYTES = 512 * 1024  # of a script


class Phase(msgspec.Struct, frozen=True):
    """A label for what is shown together; it says nothing of when anything runs."""

    title: str
    detail: str = ""
    model: str = ""


class Meta(msgspec.Struct, frozen=True):
    """What a script says of itself. `args` is a JSON Schema; `data` is the whole as it stands."""

    name: str
    description: str
    when_to_use: str = ""
    phases: tuple[Phase, ...] = ()
    args: dict[str, Any] | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    data: dict[str, Any] = {}


class Checked(msgspec.Struct, frozen=True):
    """`body` is what the engine gets: the source with its meta blanked out, so that lines stay."""

    source: str
    meta: Meta
    warnings: tuple[str, ...] = ()
    body: str = ""


class ScriptProblem(GatewrightError):
    """Why a script cannot run: its text says where and what to do. Line and column count from 1."""

    def __init__(self, text: str, *, line: int = 0, column: int = 0) -> None:
        where = f"Line {line}, column {column}: " if line else ""
        super().__init__(where + text)
        self.text = text
        self.line = line
        self.column = column
