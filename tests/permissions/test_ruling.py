"""The rule that is shown beside a tool of a server is the one that a call of it would meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.permissions.calls.ruling import ruling
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.access import Access, RemoteTool, Where

TOOL = "mcp__db__drop"


@pytest.mark.parametrize(
    ("texts", "rule", "outcome"),
    [
        (RuleTexts(), "", "Ask"),
        (RuleTexts(allow=("mcp__db",)), "mcp__db", "Allow"),
        (RuleTexts(allow=("mcp__db__*",), deny=(TOOL,)), TOOL, "Deny"),
        (RuleTexts(allow=("mcp__db",), ask=(TOOL,)), "mcp__db", "Allow"),
        (RuleTexts(allow=(TOOL,), ask=("mcp__db",)), TOOL, "Allow"),
        (RuleTexts(allow=("mcp__other",), deny=("mcp__db__find",)), "", "Ask"),
        (RuleTexts(deny=("*",)), "*", "Deny"),
    ],
)
def test_it_is_what_decides(tmp_path: Path, texts: RuleTexts, rule: str, outcome: str) -> None:
    policy = Policy(PolicyConfig(root=tmp_path, cwd=tmp_path, home=tmp_path, rules={"user": texts}))
    context = policy.context(Where(tmp_path, tmp_path, tmp_path))
    access = Access(remote=RemoteTool("db", "drop"))
    found = ruling(TOOL, access, context)
    assert (found.text if found is not None else "") == rule
    decision = decide(Call(TOOL, {}, access), context)
    assert type(decision).__name__ == outcome
