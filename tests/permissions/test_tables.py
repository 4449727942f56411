"""The gate against its case tables: the norm's examples, attacks, and everyday commands."""

from __future__ import annotations

from typing import Any

import pytest

from tests.permissions.tables import judge, judge_shell, load

VECTORS = [*load("permission_vectors.jsonl"), *load("gate_cases.jsonl")]
ATTACKS = load("shell_adversarial.jsonl")
EVERYDAY = load("shell_benign.jsonl")


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["id"])
def test_vector(case: dict[str, Any]) -> None:
    answer = judge(case)
    expected: dict[str, Any] = case["expect"]
    if "stored" in expected:
        assert sorted(answer["stored"]) == sorted(expected["stored"])
    plain = {key: value for key, value in expected.items() if key != "stored"}
    assert {key: answer[key] for key in plain} == plain, answer["reason"]


def test_no_attack_is_allowed() -> None:
    allowed = [
        f"{case['id']} {case['family']}: {case['command']!r}"
        for case in ATTACKS
        if judge_shell(case)["behavior"] in case["not"]
    ]
    assert not allowed, "\n".join(allowed)


def test_a_deny_rule_is_a_denial_and_not_just_a_question() -> None:
    restricted = ("deny sees through", "path denies in the shell")
    weak = [
        f"{case['id']}: {case['command']!r}"
        for case in ATTACKS
        if case["family"] in restricted and judge_shell(case)["behavior"] != "deny"
    ]
    assert not weak, "\n".join(weak)


def test_everyday_commands_run_without_a_question() -> None:
    asked = [case["command"] for case in EVERYDAY if judge_shell(case)["behavior"] != "allow"]
    assert len(asked) / len(EVERYDAY) < 0.03, asked


def test_the_tables_are_large_enough_to_mean_something() -> None:
    assert len({case["command"] for case in ATTACKS}) >= 1_000
    assert len({case["command"] for case in EVERYDAY}) >= 200
    assert all(case["why"] for case in EVERYDAY)
