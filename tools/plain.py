"""What most tools have in common: a tool made from these is a name, an input and `run`.

One that says nothing else is asked about at every call, since its facts are at their defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

import msgspec

from gatewright.tools.access import Access, Effect, Row, Where
from gatewright.tools.blocks import Block
from gatewright.tools.protocol import In, JsonObject, ToolFailure, ToolResult


class PlainTool(Generic[In]):
    """Every part of a tool that has a usual form."""

    name: str
    input: type[In]
    effects: Effect = Effect.NONE
    time_limit: float | None = None
    row: Row | None = None

    def access(self, input: In, where: Where) -> Access:
        del input, where
        return Access(effects=self.effects)

    def title(self, input: In, where: Where) -> tuple[str, str]:
        del input, where
        return self.name, ""

    def view(self, input: In, result: ToolResult | None) -> Sequence[Block]:
        del input, result
        return ()


class StructTool(PlainTool[In]):
    """Its input is a msgspec Struct: no other library is loaded for it."""

    def read(self, raw: JsonObject) -> In:
        try:
            return msgspec.convert(raw, self.input)
        except msgspec.ValidationError as error:
            text = f"{self.name} was not run, its input is wrong:\n- {error}"
            raise ToolFailure(text) from None
