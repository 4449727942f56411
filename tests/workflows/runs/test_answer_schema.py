"""Schemas that no answer could satisfy are found before an agent works for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gatewright.agent.extensions.workflows.shaped_answer import REPAIRS, Answer
from gatewright.agent.workflows.runs.answer_schema import fault

GOOD: tuple[Mapping[str, Any], ...] = (
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    {"enum": ["a", 1, None]},
    {"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "integer"}}},
    {"type": ["string", "null"], "minLength": 1, "maxLength": 1},
    {"type": "object", "properties": {"minimum": {"type": "number"}, "$ref": {"type": "string"}}},
    {"type": "integer", "const": 3.0},
    {"type": "object", "required": ["a"], "additionalProperties": False, "patternProperties": {}},
)
BAD: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({"type": "nothing"}, "nothing"),
    ({"type": "integer", "minimum": 3, "maximum": 2}, "minimum 3 is more than maximum 2"),
    ({"properties": {"a": {"minLength": 2, "maxLength": 1}}}, "$.properties.a: minLength"),
    ({"enum": []}, "enum is empty"),
    ({"type": "string", "enum": [1, 2]}, "no value of enum"),
    ({"type": "string", "const": 1}, "const is not"),
    ({"type": "string", "enum": ["a"], "const": "b"}, "const is not among"),
    ({"type": "object", "required": ["a"], "additionalProperties": False}, "a is required"),
    ({"required": ["a"], "properties": {"a": False}}, "a is required"),
    ({"required": ["a", "b"], "maxProperties": 1}, "2 properties are required"),
    ({"$ref": "https://example.com/a.json"}, "leads out of the schema"),
    ({"items": {"$dynamicRef": "other.json#a"}}, "leads out of the schema"),
    ({"description": "x" * 70_000}, "64"),
)


@pytest.mark.parametrize("schema", GOOD, ids=str)
def test_nothing_is_wrong_with_these(schema: Mapping[str, Any]) -> None:
    assert fault(schema) == ""


@pytest.mark.parametrize(("schema", "why"), BAD, ids=lambda each: str(each)[:60])
def test_what_is_wrong_is_said(schema: Mapping[str, Any], why: str) -> None:
    found = fault(schema)
    assert why in found or (why == "64" and "65,536 is the most" in found)


def test_a_schema_that_is_too_deep_is_one_too_many() -> None:
    schema: dict[str, Any] = {}
    for _ in range(100):
        schema = {"items": schema}
    assert "deep" in fault(schema)


def test_an_answer_is_sent_back_so_often_and_no_more() -> None:
    answer = Answer({"type": "integer"})
    told = [answer.missing("no") for _ in range(REPAIRS + 2)]
    assert [bool(each) for each in told] == [True] * REPAIRS + [False, False]
    assert answer.spent
    assert not answer.given


def test_what_is_no_object_is_wrapped_for_the_tool() -> None:
    answer = Answer({"type": "integer"})
    assert "is not of type" in answer.take({"value": "x"})
    assert answer.take({"value": 3}) == ""
    assert (answer.given, answer.value) == (True, 3)


def test_a_plain_answer_that_fits_is_as_good_as_the_tool() -> None:
    answer = Answer({"type": "object", "required": ["a"]})
    assert answer.missing('```json\n{"a": 1}\n```') == ""
    assert answer.value == {"a": 1}
