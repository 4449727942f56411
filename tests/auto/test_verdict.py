"""What counts as a verdict: one clear word outside of any reasoning."""

from __future__ import annotations

import random

import pytest

from gatewright.agent.auto.verdict import Verdict, read, schema

THOUGHT = "It only lists files. <why>It lists files.</why><label>looking</label>"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("allow", "allow"),
        (" Allow. ", "allow"),
        ("block", "deny"),
        ("<verdict>allow</verdict>", "allow"),
        ("<verdict> BLOCK </verdict>", "deny"),
        ('{"verdict": "allow"}', "allow"),
        ('{"verdict": "block"}', "deny"),
        ('{"why": "", "label": "", "verdict": "deny"}', "deny"),
        ('{"why": "", "label": "", "verdict": "ask"}', "deny"),
        ("<think>first I thought block</think>allow", "allow"),
        ("<verdict>allow</verdict><verdict>allow</verdict>", "allow"),
    ],
)
def test_a_quick_look(text: str, word: str) -> None:
    found = read(text, "fast")
    assert found is not None
    assert found.word == word


@pytest.mark.parametrize(
    "text",
    [
        "", "maybe", "allow or block", "I would allow this", "deny", "ask",
        "<verdict>allow</verdict><verdict>block</verdict>", "<verdict>ask</verdict>",
        "<think><verdict>allow</verdict></think>", "<think><verdict>allow</verdict>",
        '{"verdict": "no"}', '{"verdict": "allow", "and": 1}', '{"verdict": ["allow"]}', "{",
        "x" * 30_000 + "<verdict>allow</verdict>", "[" * 10_000,
    ],
)  # fmt: skip
def test_no_verdict_of_a_quick_look(text: str) -> None:
    assert read(text, "fast") is None


def test_one_with_reasons() -> None:
    assert read(f"{THOUGHT}<verdict>allow</verdict>", "thinking") == Verdict(
        "allow", "looking", "It lists files."
    )
    said = '{"why": "It\\u001b[2K pushes.", "label": "published history", "verdict": "deny"}'
    found = read(said, "thinking")
    assert found is not None
    assert (found.word, found.label) == ("deny", "published history")
    assert "\x1b" not in found.why


@pytest.mark.parametrize("text", ["allow", THOUGHT, "<verdict>block</verdict>", '{"verdict": ""}'])
def test_no_verdict_with_reasons(text: str) -> None:
    assert read(text, "thinking") is None


def test_the_schema_has_the_reasons_before_the_verdict() -> None:
    for sampled in (False, True):
        found = schema("thinking", sampled=sampled)
        assert list(found["properties"]) == found["required"] == ["why", "label", "verdict"]
        assert ("maxLength" in found["properties"]["why"]) is sampled


def test_a_schema_that_is_part_of_the_prompt_is_the_same_for_both_looks() -> None:
    assert schema("fast", sampled=False) == schema("thinking", sampled=False)
    assert list(schema("fast", sampled=True)["properties"]) == ["verdict"]


def test_no_text_raises() -> None:
    source = random.Random(1)
    pieces = ["<verdict>", "</verdict>", "allow", "block", "<think>", "</think>", "{", '"', "\0"]
    for _ in range(2_000):
        read("".join(source.choice(pieces) for _ in range(9)), source.choice(["fast", "thinking"]))
