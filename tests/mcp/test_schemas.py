"""Schemas of servers: they say what is wrong with a value, and do nothing else."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from gatewright.mcp.schemas import mismatch


def test_what_is_wrong_is_said_and_where() -> None:
    city = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"city": {"$ref": "#/$defs/city"}, "size": {"type": "integer"}},
        "$defs": {"city": city},
    }
    assert mismatch(schema, {"city": {"name": "Oslo"}, "size": 3}) == ""
    assert mismatch(schema, {"city": {"name": 3}}) == "city.name: 3 is not of type 'string'"
    assert mismatch(schema, {"size": "x"}) == "size: 'x' is not of type 'integer'"


@pytest.mark.filterwarnings("ignore:Automatically retrieving")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "ADDRESS"},
        {"$dynamicRef": "ADDRESS"},
        {"$ref": "#/$defs/a/default", "$defs": {"a": {"default": {"$ref": "ADDRESS"}}}},
        {"$ref": "#/$defs/a/enum/0", "$defs": {"a": {"enum": [{"$dynamicRef": "ADDRESS"}]}}},
    ],
)
def test_nothing_is_fetched_for_a_schema(tmp_path: Path, schema: dict[str, Any]) -> None:
    """The file says that any object is wrong: whoever reads it finds that."""
    file = tmp_path / "schema.json"
    file.write_text('{"required": ["secret"]}', encoding="utf-8")
    given = json.loads(json.dumps(schema).replace("ADDRESS", file.as_uri()))
    assert mismatch(given, {}) == ""


def test_no_pattern_runs_by_way_of_a_value_in_a_schema() -> None:
    schema = {"$ref": "#/$defs/a/const", "$defs": {"a": {"const": {"pattern": "^b"}}}}
    assert mismatch(schema, "c") == ""


def test_references_that_multiply_end_in_time() -> None:
    many = {
        f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]}
        for n in range(30)
    }
    schema = {"$ref": "#/$defs/a0", "$defs": {**many, "a30": {"type": "object"}}}
    mismatch({"type": "object"}, {})  # what is imported takes its time once
    began = time.process_time()
    assert mismatch(schema, {}) == ""
    assert time.process_time() - began < 5
