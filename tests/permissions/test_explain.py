"""A trace ends where the decision was made, for every kind of call."""

from __future__ import annotations

from typing import Any

import pytest

from gatewright.permissions.check import call_and_context
from gatewright.permissions.decide import decide
from gatewright.permissions.explain import behavior, explain

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"tool": "Read", "input": {"file_path": "/w/proj/a"}}, "mode strategy", "allow"),
    ({"tool": "Bash", "input": {"command": "rm -rf /"}}, "floor", "ask"),
    (
        {"tool": "Edit", "input": {"file_path": "/w/proj/a"}, "context": {"mode": "plan"}},
        "mode gate",
        "deny",
    ),
    (
        {
            "tool": "WebFetch",
            "input": {"url": "http://x.org"},
            "context": {"rules": {"user": {"deny": ["WebFetch"]}}},
        },
        "deny rule",
        "deny",
    ),
    (
        {
            "tool": "WebFetch",
            "input": {"url": "http://x.org"},
            "context": {"interactive": False},
        },
        "who answers",
        "deny",
    ),
    (
        {"tool": "WebFetch", "input": {"url": "http://x.org"}, "context": {"mode": "dontAsk"}},
        "who answers",
        "deny",
    ),
]


@pytest.mark.parametrize(("case", "stage", "word"), CASES, ids=lambda value: str(value)[:40])
def test_the_last_step_is_the_decision(case: dict[str, Any], stage: str, word: str) -> None:
    call, context = call_and_context(case)
    found = explain(call, context)
    assert found.decision == decide(call, context)
    assert (found.steps[-1].stage, behavior(found.decision)) == (stage, word)
    assert found.steps[-1].said == f"{word}: {found.decision.reason.text}"
    silent = [step for step in found.steps[:-1] if not step.said]
    assert len(silent) >= len(found.steps) - 2
