"""Explanations, a project's own rule tests, and the line protocol of `check`."""

from __future__ import annotations

import json

import pytest

from gatewright.permissions.check import Unreadable, call_and_context, check_line
from gatewright.permissions.decide import STAGES
from gatewright.permissions.explain import TITLES, compare, mined, trace

CASE = {
    "id": "a",
    "tool": "Bash",
    "input": {"command": "npm run lint"},
    "expect": {"behavior": "ask", "stored": ["Bash(npm run lint:*)"]},
}


def test_every_stage_has_a_title() -> None:
    assert {stage.__name__ for stage in STAGES} == set(TITLES)


def test_a_trace_names_the_stage_and_the_offer() -> None:
    lines, decision = trace(*call_and_context(CASE))
    assert lines[0] == "  hooks: nothing to say"
    assert lines[-3].startswith("> mode: ask.")
    assert lines[-1] == '  "always" would store: Bash(npm run lint:*)'
    assert decision.reason.stage == "mode"


def test_a_trace_tells_when_nobody_is_there() -> None:
    lines, _ = trace(*call_and_context({**CASE, "context": {"interactive": False}}))
    assert lines[-1].startswith("> nobody to ask: deny.")


def test_a_projects_own_test_holds_or_shows_the_trace() -> None:
    assert compare(CASE) == (True, "ok    a")
    held, text = compare({**CASE, "expect": {"behavior": "allow"}})
    assert not held
    assert "expected 'allow', got 'ask'" in text
    assert "> mode: ask." in text
    with pytest.raises(Unreadable, match="expect"):
        compare({"id": "a", "tool": "Bash", "input": {"command": "ls"}})


def test_rules_are_mined_from_what_was_asked() -> None:
    asked = [("Bash(a:*)", 1), ("Bash(b:*)", 2), ("Bash(a:*)", 2), ("Bash(c:*)", 1)]
    assert mined(asked) == [("Bash(a:*)", 3), ("Bash(b:*)", 2)]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"id": "x"}',
        b'{"id": "x", "tool": "Bash", "input": []}',
        b'{"id": "x", "tool": "Bash", "context": {"mode": "nonsense"}}',
        b'{"id": "x", "tool": "Bash", "context": {"rules": {"nobody": {}}}}',
        b'{"id": "x", "tool": "Bash", "context": {"rules": {"user": {"allow": [1]}}}}',
        b'{"id": "x", "tool": "Bash", "context": {"trusted": "yes"}}',
        b'{"id": "x", "tool": "Bash", "context": {"root": "relative"}}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_an_unreadable_case_is_an_error_and_never_an_allow(line: bytes) -> None:
    answer = check_line(line)
    assert "error" in json.loads(answer)
    assert b"\n" not in answer
    assert "behavior" not in json.loads(answer)


def test_a_judgement_has_exactly_the_public_keys() -> None:
    answer = check_line(json.dumps(CASE).encode())
    keys = ["id", "behavior", "stage", "rule", "source", "reason", "always", "stored"]
    assert list(json.loads(answer)) == keys
    assert "error" not in json.loads(answer)
