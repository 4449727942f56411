"""What lies in a directory that a command is given is under the same rules as what it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.permissions.decision import Allow, Ask, Deny
from gatewright.permissions.rulebook.rules import RuleTexts
from tests.permissions.test_git_writes import decided
from tests.permissions.test_searches import printed_by

FLOATING = RuleTexts(("Bash(*)",), deny=("Read(**/.env)",))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "empty").mkdir()
    for name in (".env", "sub/.env", "sub/open.txt", "open.txt", "a,b/x.txt"):
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"TOKEN of {name}\n", encoding="utf-8")
    (tmp_path / "outside.txt").write_text("TOKEN outside\n", encoding="utf-8")
    (root / "a,b" / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "way").symlink_to("sub")
    return root


@pytest.mark.parametrize(
    "command",
    ["diff . empty", "diff -N sub empty", "diff sub open.txt", "diff open.txt way", "diff s* empty",
     "diff -u {sub,empty}", "grep -d recurse TOKEN .", "egrep -drec TOKEN", "cat 'a,b'/*"],
)  # fmt: skip
def test_a_directory_is_not_read_without_a_question(root: Path, command: str) -> None:
    assert isinstance(decided(root, command, RuleTexts()), Ask)


def test_two_files_are_compared_without_a_question(root: Path) -> None:
    assert isinstance(decided(root, "diff -u open.txt sub/open.txt", RuleTexts()), Allow)


@pytest.mark.parametrize(
    "command",
    ["cp -r sub copy", "cp -a . ../copy", "rsync -a sub copy", "tar cf a.tar sub", "tar c .",
     "zip -r a.zip sub", "diff -N sub empty", "diff -r sub empty", "scp -r sub h:",
     "find . -type f | xargs cat", "xargs cat < names", "xargs -I% cp % copy",
     "ls | xargs -n1 head", "xargs sed -n 1p"],
)  # fmt: skip
def test_a_rule_for_any_depth_asks_where_directories_are_handed_on(
    root: Path, command: str
) -> None:
    found = decided(root, command, FLOATING)
    assert isinstance(found, Ask), found
    assert found.reason.rule == "Read(**/.env)"


@pytest.mark.parametrize("command", ["cp open.txt copy", "tar cf a.tar open.txt", "xargs echo"])
def test_plain_files_are_handed_on(root: Path, command: str) -> None:
    assert isinstance(decided(root, command, FLOATING), Allow)


def test_names_from_elsewhere_may_be_files_that_must_not_change(root: Path) -> None:
    found = decided(root, "ls | xargs touch", RuleTexts(("Bash(*)",), deny=("Edit(sub/**)",)))
    assert isinstance(found, Ask)


@pytest.mark.parametrize(
    "command",
    ["grep -r --include='*' TOKEN .", "grep -rn TOKEN . --include='*env'", "rg TOKEN -g '*v'",
     "rg TOKEN -g '**' .", "rg --hidden TOKEN -g '*'", "rg -uu TOKEN", "grep -r TOKEN . --label",
     "grep -r TOKEN -- .", "grep -r -e TOKEN -- . --label", "grep -d recurse TOKEN .",
     "rg -e TOKEN -- .", "grep -d recurse -e TOKEN", "fgrep --dir=rec TOKEN .",
     "grep --rec TOKEN . --inc='*v'"],
)  # fmt: skip
def test_an_option_of_the_command_never_beats_what_is_left_out(root: Path, command: str) -> None:
    found = decided(root, command, FLOATING)
    if isinstance(found, Allow):
        assert found.command
        assert "TOKEN of .env" not in printed_by(found.command, root), found.command
        assert "TOKEN of sub/.env" not in printed_by(found.command, root)
    else:
        assert isinstance(found, Ask)


def test_a_search_for_dashes_stays_one(root: Path) -> None:
    (root / "dashes.txt").write_text("a -- b\n", encoding="utf-8")
    found = decided(root, "grep -rn -e -- .", FLOATING)
    assert isinstance(found, Allow)
    assert "a -- b" in printed_by(found.command, root)


@pytest.mark.parametrize("mode", ["bypassPermissions", "default"])
@pytest.mark.parametrize("command", ["patch -d sub < $f", "git apply $f", "cat $f | patch -p1"])
def test_a_patch_nobody_can_read_asks_under_a_rule_about_changes(
    root: Path, command: str, mode: str
) -> None:
    rules = RuleTexts(deny=("Edit(elsewhere/**)",))
    found = decided(root, command, rules, mode=mode)
    assert isinstance(found, Ask)
    assert mode == "default" or found.reason.rule == "Edit(elsewhere/**)"


def test_a_denied_directory_is_not_compared(root: Path) -> None:
    rules = RuleTexts(("Bash(*)",), deny=("Read(sub/deep/**)",))
    assert isinstance(decided(root, "diff . empty", rules), Deny)
