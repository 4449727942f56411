"""Answers of a given shape: checked whatever enforced them, and sent back a few times."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from gatewright.agent.turn.structured_answer import Shape
from gatewright.tools.protocol import JsonObject

REPAIRS = 4
DEEP = 200
TOLD = """\
The answer that counts is one JSON value that satisfies this JSON Schema. Give it through \
StructuredOutput if you have that tool, else as your last message, with nothing around it.
"""
CORRECTION = (
    "That is no valid answer: {problem}. Answer again with a value that satisfies the schema, "
    "through StructuredOutput if you have it, else with the JSON value alone."
)


class Answer:
    """What one agent has to give, and whether it did."""

    def __init__(self, schema: JsonObject) -> None:
        self._shape = Shape(msgspec.json.encode(schema).decode())
        self._wrapped = schema.get("type") != "object"
        self.given = False
        self.value: Any = None
        self.problem = ""  # of the last one
        self._tries = 0

    @property
    def told(self) -> str:
        return TOLD + msgspec.json.encode(self._shape.schema).decode()

    @property
    def spent(self) -> bool:
        """It was sent back as often as may be."""
        return self._tries > REPAIRS

    def take(self, input: JsonObject) -> str:
        """An answer through the tool; what is wrong with it, or empty."""
        value = input.get("value") if self._wrapped else input
        return self._judge(msgspec.json.encode(value).decode())

    def missing(self, said: str) -> str:
        """What an agent is told that ended its turn so; empty where that was the answer."""
        if self.given or self.spent:
            return ""
        problem = self._judge(said)
        return "" if not problem or self.spent else CORRECTION.format(problem=problem)

    def _judge(self, text: str) -> str:
        self.problem = self._shape.problem(text)
        value = None if self.problem else self._shape.value(text)
        if deeper(value, DEEP):  # it could not be written down, nor go to the script
            self.problem = f"it is nested more than {DEEP} deep"
        if self.problem:
            self._tries += 1
        else:
            self.given, self.value = True, value
        return self.problem


def deeper(value: object, most: int) -> bool:
    """Whether there are more lists and objects within each other than that."""
    level: list[object] = [value]
    for _ in range(most + 1):
        below: list[object] = []
        for each in level:
            if isinstance(each, dict):
                below += cast("dict[str, object]", each).values()
            elif isinstance(each, list):
                below += cast("list[object]", each)
        if not below:
            return False
        level = below
    return True
