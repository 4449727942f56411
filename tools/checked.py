"""Tools whose input is a pydantic model: all that are built in. They load pydantic, nobody else."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.plugin import _loader

from gatewright.tools.plain import PlainTool
from gatewright.tools.protocol import JsonObject, ToolFailure

# Looking for plugins reads what every installed package says of itself, 15 ms at the first model,
# and would run what one brings: there is none for us.
_loader._plugins = {}  # pyright: ignore[reportPrivateUsage]

Model = TypeVar("Model", bound=BaseModel)


class CheckedTool(PlainTool[Model]):
    prompt: str  # file name below `tools/prompts/` of the description the model reads

    def read(self, raw: JsonObject) -> Model:
        try:
            return self.input.model_validate(raw)
        except ValidationError as error:
            from gatewright.tools import schema  # noqa: PLC0415  lazy: only for wrong input

            wrong = ToolFailure(schema.explain(error, self.name))
            fixed = schema.unquoted(raw, error)
        if fixed is not None:
            with suppress(ValidationError):
                return self.input.model_validate(fixed)
        raise wrong
