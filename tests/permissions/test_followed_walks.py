"""A walk that follows links shows nothing of our own home, nor of what a rule denies."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.permissions.decision import Deny
from gatewright.permissions.machine import links
from gatewright.permissions.machine.links import links_out_of
from gatewright.permissions.rulebook.rules import RuleTexts
from tests.permissions.test_git_writes import decided

FOLLOWING = (
    "grep -R x .",
    "grep -rR x",
    "rg -L x",
    "rg --follow x .",
    "grep --dere x -r .",
    "tar ch .",
    "tar -czhf a.tgz deep",
    "zip -r - .",
    "diff -r . /tmp/x",
)
STAYING = (
    "grep -r x .",
    "grep -rhH x .",
    "grep -rL x .",
    "rg -S x",
    "rg -H x",
    "tar cf a.tar .",
    "cp -r deep /tmp/x",
    "rsync -aH deep /tmp/x",
    "grep -r --no-messages x .",
)


@pytest.mark.parametrize("command", FOLLOWING)
def test_what_a_rule_denies_is_denied_where_a_link_leads_to_it(
    tmp_path: Path, command: str
) -> None:
    root = tmp_path / "project"
    (root / "deep" / "er").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    rules = RuleTexts(deny=(f"Read(/{tmp_path}/secret/**)",))
    assert not isinstance(decided(root, command, rules), Deny)
    (root / "deep" / "er" / "link").symlink_to(tmp_path)
    assert isinstance(decided(root, command, rules), Deny)


@pytest.mark.parametrize("command", STAYING)
def test_where_links_are_not_followed_they_do_not_matter(tmp_path: Path, command: str) -> None:
    root = tmp_path / "project"
    (root / "deep").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (root / "deep" / "link").symlink_to(tmp_path / "secret")
    rules = RuleTexts(deny=(f"Read(/{tmp_path}/secret/**)",))
    assert not isinstance(decided(root, command, rules), Deny)


def test_too_much_to_look_at_may_lead_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).touch()
    assert links_out_of(str(tmp_path)) == ()
    monkeypatch.setattr(links, "MAX_LOOKED", 2)
    assert links_out_of(str(tmp_path)) == ("/",)
