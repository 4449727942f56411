"""Answers that must be JSON of a given schema: what the model is told, and whether it obeyed.

Models that can are bound by their API; every answer is checked all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

import msgspec

from gatewright.agent.launch.exits import UsageError
from gatewright.agent.text.in_time import Late, in_time

MOST = 1.0  # seconds of work that an answer may take
PROMPT = """\
# Form of the final answer
When the work is done, answer with one JSON value that satisfies this JSON Schema, and with nothing
else: no prose, no code fence.
"""
CORRECTION = (
    "That answer is not valid: {problem}. "
    "Answer again with the JSON value only, so that it satisfies the schema."
)


class Shape:
    """One JSON Schema."""

    def __init__(self, text: str) -> None:
        """Raises UsageError when the text is no schema."""
        try:
            self.schema = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError) as error:
            raise UsageError(f"--json-schema takes a JSON object: {error}.") from error

    @property
    def prompt(self) -> str:
        return PROMPT + msgspec.json.encode(self.schema).decode()

    @property
    def enforceable(self) -> bool:
        """Whether an API can enforce it."""
        return enforceable(self.schema)

    def problem(self, text: str) -> str:
        """What is wrong with an answer, or an empty string."""
        try:
            value = self.value(text)
        except (msgspec.DecodeError, RecursionError) as error:
            return f"it is no JSON ({error})"
        return self._held(value)

    def _held(self, value: Any) -> str:
        """A schema is somebody's too: patterns may come to no end, references lead nowhere."""
        from referencing.exceptions import Unresolvable  # noqa: PLC0415  lazy: with the validator

        try:
            found = in_time(lambda: next(iter(self._validator.iter_errors(value)), None), MOST)
        except Late:
            self.__dict__.pop("_validator", None)  # it was stopped anywhere
            return "it takes too long to hold it against the schema"
        except (re.error, RecursionError, Unresolvable) as error:
            told = str(error) or type(error).__name__
            return f"the schema cannot be used: {told[:200]}"
        return f"{found.json_path}: {found.message}" if found is not None else ""

    def value(self, text: str) -> Any:
        """The answer as JSON; a fence around it is forgiven."""
        bare = text.strip()
        if bare.startswith("```"):
            bare = bare.partition("\n")[2].rpartition("```")[0]
        return msgspec.json.decode(bare)

    def check(self) -> None:
        """Raises UsageError when it is no valid schema."""
        if found := self.fault():
            raise UsageError(f"--json-schema: {found}.")

    def fault(self) -> str:
        """Why it is no valid schema, or an empty string. Costs the import of the validator."""
        import jsonschema  # noqa: PLC0415  lazy: 40 ms

        try:
            jsonschema.Draft202012Validator.check_schema(self.schema)
        except jsonschema.SchemaError as error:
            return f"{error.json_path}: {error.message}"
        return ""

    @cached_property
    def _validator(self) -> Any:
        import jsonschema  # noqa: PLC0415  lazy: 40 ms

        return jsonschema.Draft202012Validator(self.schema)


def enforceable(schema: Mapping[str, Any]) -> bool:
    """Whether an API can enforce it: every object is closed and all its keys are required."""
    return schema.get("type") == "object" and _closed(schema)


def _closed(node: object) -> bool:
    if isinstance(node, list):
        return all(map(_closed, cast("list[object]", node)))
    if not isinstance(node, dict):
        return True
    known = cast("Mapping[str, Any]", node)
    if known.get("type") == "object" or "properties" in known:
        keys = set(known.get("properties", {}))
        if known.get("additionalProperties") is not False or keys != set(known.get("required", [])):
            return False
    return all(map(_closed, known.values()))
