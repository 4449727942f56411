"""What most tools have in common: a tool made from these is a name, an input and `run`.

One that says nothing else is asked about at every call, since its facts are at their defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Generic, TypeVar, cast

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


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """What such a tool takes: limits and descriptions are `msgspec.Meta`, other names `rename`."""


Given = TypeVar("Given", bound=Input)


class InputTool(PlainTool[Given]):
    """What is plainly right is read without pydantic, which costs 45 ms.

    Anything else goes to a pydantic model made of the same fields (`tools/checked.py`): it
    understands more than one way to say a thing, tells what is wrong, and gives the schema.
    """

    prompt: str  # file name below `tools/prompts/` of the description the model reads

    def read(self, raw: JsonObject) -> Given:
        with suppress(msgspec.ValidationError, RecursionError):
            if raw.keys() <= _names(self.input) and plain(raw):
                return msgspec.convert(raw, self.input)
        from gatewright.tools.checked import checked, model_of  # noqa: PLC0415  lazy: 45 ms, few need it

        found = checked(model_of(self.input), raw, self.name)
        return msgspec.convert(found.model_dump(by_alias=True), self.input)


@lru_cache(maxsize=64)
def _names(struct: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(each.encode_name for each in msgspec.structs.fields(struct))


def plain(value: object) -> bool:
    """Whether all text in it can be written down: half a character cannot."""
    if isinstance(value, str):
        return value.isascii() or _written(value)
    if isinstance(value, dict):
        return all(plain(each) for row in cast("JsonObject", value).items() for each in row)
    return all(map(plain, cast("list[object]", value))) if isinstance(value, list) else True


def _written(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
