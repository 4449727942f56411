"""The answers that agents give about a project: their shapes, and what is made of them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gatewright.agent.autonomy.project.features import (
    Feature,
    FeatureList,
    ProjectError,
    proposed,
)
from gatewright.tools.protocol import JsonObject

VERDICT: JsonObject = {
    "type": "object",
    "properties": {
        "verdict": {"enum": ["pass", "fail", "partial"]},
        "reason": {"type": "string"},
    },
    "required": ["verdict", "reason"],
    "additionalProperties": False,
}
PLAN: JsonObject = {
    "type": "object",
    "properties": {
        "features": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "acceptance": {"type": "string"},
                    "check": {"type": "string"},
                },
                "required": ["title", "acceptance", "check"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["features"],
    "additionalProperties": False,
}


class Verdict(msgspec.Struct, frozen=True):
    verdict: Literal["pass", "fail", "partial"]
    reason: str


class _Step(msgspec.Struct, frozen=True):
    title: str
    acceptance: str
    check: str


class _Plan(msgspec.Struct, frozen=True):
    features: tuple[_Step, ...]


def verdict_of(value: Any) -> Verdict:
    """Raises ProjectError."""
    try:
        return msgspec.convert(value, Verdict)
    except msgspec.ValidationError as error:
        raise ProjectError(f"That is no verdict: {error}") from None


def list_of(goal: str, value: Any) -> FeatureList:
    """Raises ProjectError."""
    try:
        plan = msgspec.convert(value, _Plan)
    except msgspec.ValidationError as error:
        raise ProjectError(f"That is no list of features: {error}") from None
    rows = [
        Feature(
            id="f",
            title=" ".join(each.title.split()),
            acceptance=each.acceptance.strip(),
            check=each.check.strip(),
        )
        for each in plan.features
    ]
    if not rows:
        raise ProjectError("The list that was drawn up is empty.")
    return proposed(goal, rows)
