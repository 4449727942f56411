"""Inputs that are checked by a pydantic model: what is here loads pydantic, nobody else does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from gatewright.tools.plain import PlainTool
from gatewright.tools.protocol import JsonObject, ToolFailure


def _no_plugins() -> None:
    """Plugins of pydantic would run what an installed package brings: there is none for us.

    Only to look for them it loads what reads the metadata of packages, 8 ms at the first model.
    """
    name = "pydantic.plugin._loader"
    if name not in sys.modules:
        loader = ModuleType(name)
        loader.__dict__["get_plugins"] = tuple
        sys.modules[name] = loader
    else:
        sys.modules[name].__dict__["_plugins"] = {}


_no_plugins()
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model  # noqa: E402

Model = TypeVar("Model", bound=BaseModel)


class CheckedTool(PlainTool[Model]):
    prompt: str  # file name below `tools/prompts/` of the description the model reads

    def read(self, raw: JsonObject) -> Model:
        return checked(self.input, raw, self.name)


def checked(model: type[Model], raw: JsonObject, name: str) -> Model:
    """The input of the tool of that name; ToolFailure says to the model what is wrong with it."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        from gatewright.tools import schema  # noqa: PLC0415  lazy: only for wrong input

        wrong = ToolFailure(schema.explain(error, name))
        fixed = schema.unquoted(raw, error)
    if fixed is not None:
        with suppress(ValidationError):
            return model.model_validate(fixed)
    raise wrong


@lru_cache(maxsize=64)
def model_of(struct: type[msgspec.Struct]) -> type[BaseModel]:
    """The model with the same fields, limits, descriptions and defaults."""
    hints = get_type_hints(struct, include_extras=True)
    made: dict[str, Any] = {}
    for each in msgspec.structs.fields(struct):
        said = dict(_said(hints[each.name]))
        if each.default is not msgspec.NODEFAULT:
            said["default"] = each.default
        if each.encode_name != each.name:
            said["alias"] = each.encode_name
        made[each.name] = (_modelled(hints[each.name]), Field(**said))
    config = ConfigDict(populate_by_name=True)
    return create_model(struct.__name__, __config__=config, **made)


def _said(hint: object) -> Iterator[tuple[str, Any]]:
    """Limits and description of a field, also where it may be None."""
    if get_origin(hint) in (Union, UnionType):
        for each in get_args(hint):
            yield from _said(each)
    if get_origin(hint) is Annotated:
        for meta in get_args(hint)[1:]:
            if isinstance(meta, msgspec.Meta):
                yield from _limits(meta)


def _limits(meta: msgspec.Meta) -> Iterator[tuple[str, Any]]:
    known = {
        "gt": meta.gt,
        "ge": meta.ge,
        "lt": meta.lt,
        "le": meta.le,
        "min_length": meta.min_length,
        "max_length": meta.max_length,
        "description": meta.description,
    }
    return ((name, value) for name, value in known.items() if value is not None)


def _modelled(hint: object) -> Any:
    """The type without what was said of it, with models in place of Structs."""
    if get_origin(hint) is Annotated:
        return _modelled(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return cast("Any", Union)[tuple(_modelled(each) for each in get_args(hint))]
    if get_origin(hint) is list:
        return list[_modelled(get_args(hint)[0])]  # type: ignore[misc]
    kind: Any = hint
    if kind is NoneType:
        return None
    struct = isinstance(hint, type) and issubclass(hint, msgspec.Struct)
    return model_of(kind) if struct else kind
