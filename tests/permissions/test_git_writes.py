"""A rule that forbids changing a file holds for every git command that would replace it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Deny
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rules import RuleTexts
from gatewright.tools.access import Access, ShellText, Where


def decided(root: Path, command: str) -> object:
    rules = RuleTexts(allow=("Bash(git:*)",), deny=("Edit(prod.cfg)",))
    policy = Policy(PolicyConfig(root=root, cwd=root, home=root, rules={"user": rules}))
    access = Access(runs=ShellText(command, root))
    call = Call("Bash", {"command": command}, access)
    return decide(call, policy.context(Where(root, root, root)))


@pytest.mark.parametrize(
    "command",
    [
        "git rm prod.cfg",
        "git mv prod.cfg other.cfg",
        "git checkout prod.cfg",
        "git checkout HEAD~2 -- prod.cfg",
        "git -C . checkout main prod.cfg",
        "git restore prod.cfg",
        "git restore --source=HEAD~1 -- prod.cfg",
        "git clean -f prod.cfg",
    ],
)
def test_what_replaces_the_file_is_denied(tmp_path: Path, command: str) -> None:
    decision = decided(tmp_path, command)
    assert isinstance(decision, Deny)
    assert decision.reason.rule == "Edit(prod.cfg)"


@pytest.mark.parametrize(
    "command", ["git checkout main", "git checkout -b prod", "git add prod.cfg", "git show HEAD"]
)
def test_what_does_not_is_allowed(tmp_path: Path, command: str) -> None:
    assert isinstance(decided(tmp_path, command), Allow)
