"""Answers that must be JSON of a given schema: what the model is told, and whether it obeyed.

Models that can are bound by their API; every answer is checked all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

import msgspec

from gatewright.agent.launch.exits import UsageError

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
        """Whether an API can enforce it: every object is closed and all its keys are required."""
        return self.schema.get("type") == "object" and _closed(self.schema)

    def problem(self, text: str) -> str:
        """What is wrong with an answer, or an empty string."""
        try:
            value = self.value(text)
        except (msgspec.DecodeError, RecursionError) as error:
            return f"it is no JSON ({error})"
        found = next(iter(self._validator.iter_errors(value)), None)
        return f"{found.json_path}: {found.message}" if found is not None else ""

    def value(self, text: str) -> Any:
        """The answer as JSON; a fence around it is forgiven."""
        bare = text.strip()
        if bare.startswith("```"):
            bare = bare.partition("\n")[2].rpartition("```")[0]
        return msgspec.json.decode(bare)

    def check(self) -> None:
        """Raises UsageError when it is no valid schema. Costs the import of the validator."""
        import jsonschema  # noqa: PLC0415  lazy: 40 ms

        try:
            jsonschema.Draft202012Validator.check_schema(self.schema)
        except jsonschema.SchemaError as error:
            raise UsageError(f"--json-schema: {error.json_path}: {error.message}.") from error

    @cached_property
    def _validator(self) -> Any:
        import jsonschema  # noqa: PLC0415  lazy: 40 ms

        return jsonschema.Draft202012Validator(self.schema)


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
