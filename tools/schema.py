"""From an input to the JSON Schema a model reads, and from its errors to plain text.

Run as a module it rewrites `schemas.json`, so that start-up needs neither pydantic nor a tool.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

    from gatewright.tools.checked import CheckedTool
    from gatewright.tools.protocol import JsonObject

SCHEMAS = Path(__file__).with_name("schemas.json")

# Limits are checked when a call comes, and what is wrong is said then.
_LIMITS = ("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "maxItems")
_NOISE = ("title", "default", "$defs", *_LIMITS)


def schema_of(input: type[BaseModel | msgspec.Struct]) -> JsonObject:
    """What a model reads of a tool's input."""
    from gatewright.tools.checked import model_of  # noqa: PLC0415  lazy: pydantic

    return trimmed(model_of(input) if issubclass(input, msgspec.Struct) else input)


def trimmed(model: type[BaseModel]) -> JsonObject:
    """The model's schema without titles, defaults, references and null alternatives."""
    raw = model.model_json_schema()
    return cast("JsonObject", _trim(raw, raw.get("$defs", {})))


def _trim(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_trim(item, definitions) for item in _items(node)]
    if isinstance(node, dict):
        return _trim_object({str(key): node[key] for key in _items(node)}, definitions)
    return node


def _items(node: Any) -> list[Any]:
    return list(node)


def _trim_object(node: dict[str, Any], definitions: Mapping[str, Any]) -> Any:
    if "$ref" in node:
        named = definitions[str(node["$ref"]).rpartition("/")[2]]
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _trim({**named, **rest}, definitions)
    if options := [o for o in node.get("anyOf", ()) if o != {"type": "null"}]:
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        node = {**options[0], **rest} if len(options) == 1 else {**rest, "anyOf": options}
    slim: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":  # below it keys are names of fields, not keywords
            slim[key] = {name: _trim(field, definitions) for name, field in value.items()}
        elif key not in _NOISE:
            slim[key] = _trim(value, definitions)
    return slim


def explain(error: ValidationError, name: str) -> str:
    """What is wrong with the input of tool `name`: one line a field, written for the model."""
    lines = [_explain_one(detail) for detail in error.errors(include_url=False)[:8]]
    return f"{name} was not run, its input is wrong:\n" + "\n".join(lines)


def _explain_one(detail: ErrorDetails) -> str:
    field = ".".join(str(part) for part in detail["loc"]) or "input"
    if detail["type"] == "missing":
        return f"- `{field}` is missing"
    if detail["type"] == "extra_forbidden":
        return f"- `{field}` is not a parameter"
    text = detail["msg"].removeprefix("Value error, ")
    given = json.dumps(detail["input"], ensure_ascii=False, default=str)
    if len(given) > 80:
        given = given[:77] + "..."
    return f"- `{field}`: {text[:1].lower()}{text[1:]} (got {given})"


def unquoted(raw: Mapping[str, Any], error: ValidationError) -> JsonObject | None:
    """The input with lists and objects that were sent as JSON text decoded, or None if none were.

    Some models quote nested values; what the text says is still exactly what was asked for.
    """
    fixed = dict(raw)
    found = False
    for detail in error.errors(include_url=False):
        field = str(detail["loc"][0]) if len(detail["loc"]) == 1 else ""
        sent = fixed.get(field)
        if detail["type"] not in ("list_type", "dict_type", "model_type") or type(sent) is not str:
            continue
        try:
            fixed[field] = json.loads(sent)
        except (ValueError, RecursionError):
            continue
        found = True
    return fixed if found else None


def generate() -> str:
    """The text of `schemas.json` for the tools as they are now."""
    from gatewright.tools.registry import TOOLS, load  # noqa: PLC0415  lazy: registry reads us

    tools = {name: cast("CheckedTool[Any]", load(name)) for name in TOOLS}
    table = {
        name: {"prompt": tool.prompt, "schema": schema_of(tool.input)}
        for name, tool in tools.items()
    }
    rows = [
        f"  {json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}"
        for name, row in table.items()
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def main() -> int:
    SCHEMAS.write_text(generate(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
