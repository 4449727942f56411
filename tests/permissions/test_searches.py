"""What a rule for a place at any depth is about is in no search, with ripgrep, grep and git run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gatewright.permissions.decision import Allow, Ask, Deny
from gatewright.permissions.rulebook.rules import RuleTexts
from tests.fakes.waiting import PATIENCE
from tests.permissions.test_git_writes import decided
from tests.permissions.test_looked import Desk

RULES = ["Read(**/a/b)", "Read(**/a/b.txt)", "Read(**/a/**/deep.txt)", "Read(**/a/{b,deep}.txt)"]
FILES = ("a/b.txt", "sub/a/b.txt", "sub/a/x/deep.txt", "a/deep.txt", "a/b/inner.txt", "open.txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in FILES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"TOKEN of {name}\n", encoding="utf-8")
    (root / "open.txt").write_text("TOKEN of all\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "-f", ".")):
        subprocess.run(("git", *words), cwd=root, check=True, capture_output=True)
    return root


def hidden(rule: str) -> tuple[str, ...]:
    return {
        RULES[0]: ("a/b/inner.txt",),
        RULES[1]: ("a/b.txt", "sub/a/b.txt"),
        RULES[2]: ("sub/a/x/deep.txt", "a/deep.txt"),
        RULES[3]: ("a/b.txt", "sub/a/b.txt", "a/deep.txt"),
    }[rule]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("behavior", ["deny", "ask"])
async def test_the_search_tools_show_nothing_of_it(root: Path, rule: str, behavior: str) -> None:
    desk = Desk(root, RuleTexts(deny=(rule,)) if behavior == "deny" else RuleTexts(ask=(rule,)))
    for found in (
        await desk.run("Grep", pattern="TOKEN", output_mode="content"),
        await desk.run("Grep", pattern="TOKEN", output_mode="files_with_matches", path="sub"),
        await desk.run("Glob", pattern="**/*.txt"),
    ):
        text = str(found)
        assert not any(f"TOKEN of {name}" in text for name in hidden(rule))
        assert not any(str(root / name) in text for name in hidden(rule))
    assert "open.txt" in str(await desk.run("Glob", pattern="**/*.txt"))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "command",
    ["rg TOKEN", "rg TOKEN .", "rg TOKEN a sub", "rg -uuu TOKEN", "rg TOKEN -g '*.txt'",
     "rg TOKEN {root}", "rg TOKEN < open.txt", "git grep TOKEN", "git grep TOKEN -- a sub",
     "cd sub && rg TOKEN", "cd sub && git grep TOKEN", "cd sub && git grep TOKEN -- :/"],
)  # fmt: skip
def test_a_command_that_runs_prints_nothing_of_it(root: Path, rule: str, command: str) -> None:
    command = command.format(root=root)
    found = decided(root, command, RuleTexts(("Bash(*)",), deny=(rule,)))
    assert isinstance(found, Allow), found
    told = found.command or command
    printed = printed_by(told, root)
    assert not any(f"TOKEN of {name}" in printed for name in hidden(rule)), told
    assert "TOKEN" in printed or "cd sub" in command


def printed_by(command: str, root: Path) -> str:
    path = {"PATH": f"{Path(__file__).resolve().parents[2] / '.venv/bin'}:/usr/bin:/bin"}
    done = subprocess.run(
        ("sh", "-c", command), cwd=root, env=path, check=False, capture_output=True, text=True,
        timeout=PATIENCE,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize(
    "command",
    ["grep -r TOKEN .", "grep -rn TOKEN --include='*.txt' .", "cd a && rg TOKEN",
     "bash -c 'rg TOKEN'", "ag TOKEN", "rg TOKEN --iglob '**/b.txt'"],
)  # fmt: skip
def test_a_search_that_cannot_leave_it_out_asks(root: Path, command: str) -> None:
    found = decided(root, command, RuleTexts(("Bash(*)",), deny=("Read(**/a/b.txt)",)))
    assert isinstance(found, Ask)


@pytest.mark.parametrize(
    "command",
    ["grep -r T --include='.e*' .", "grep -r T --include='?env' .", "rg T --iglob '.env'"],
)
def test_an_option_that_takes_it_in_again_asks(root: Path, command: str) -> None:
    texts = RuleTexts(("Bash(*)",), deny=("Read(.env)",))
    assert isinstance(decided(root, command, texts), Ask)
    assert isinstance(decided(root, "grep -rn T --include='*.py' .", texts), Allow)


SHOWING: dict[str, type[Allow] | type[Ask] | type[Deny]] = {
    "git stash show -p": Ask,
    "git cat-file blob HEAD:.env": Deny,
    "git cat-file -p HEAD:sub/.env": Deny,
    "git show HEAD:.env": Deny,
    "git show HEAD~2:sub/.env": Deny,
    "git archive HEAD": Ask,
    "git archive HEAD .env": Deny,
    "git format-patch -1": Ask,
    "git format-patch --stdout HEAD~1": Ask,
    "git log -p": Allow,
    "git log -p -- .env": Deny,
    "git log -L1,2:.env": Deny,
    "git grep TOK": Allow,
    "git grep TOK -- .env": Deny,
    "git blame .env": Deny,
    "git annotate .env": Deny,
    "git cat-file -p 0123456": Ask,
    "git cat-file --batch": Ask,
    "git show 0123456": Allow,
    "git diff 0123456 HEAD:open.txt": Ask,
    "git diff HEAD:open.txt 0123456": Ask,
    "git diff open.txt": Allow,
    "git request-pull v1 u -p": Ask,
    "git fast-export HEAD": Ask,
    "git fsck --lost-found": Ask,
    "git fsck --lost": Ask,
    "git fsck --full": Allow,
    "git unpack-file 0123456": Ask,
    "git merge-file --object-id -p 01234567 01234567 01234567": Ask,
    "git pack-objects --stdout": Ask,
    "git upload-archive .": Ask,
    "git checkout-index --temp .env": Ask,
    "git difftool -y -x cat HEAD": Ask,
    "git rebase --show-current-patch": Ask,
    "git rerere diff": Ask,
    "git config -f .env --list": Deny,
    "git interpret-trailers .env": Deny,
    "git mailsplit -oopen .env": Deny,
}


@pytest.mark.parametrize("command", SHOWING)
def test_a_git_command_that_shows_files_keeps_a_denied_one_back(root: Path, command: str) -> None:
    found = decided(root, command, RuleTexts(("Bash(*)",), deny=("Read(.env)",)))
    assert isinstance(found, SHOWING[command])
    if isinstance(found, Allow) and "fsck" not in command:
        assert ".env" in found.command
