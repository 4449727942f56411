"""A command that applies a patch is judged by what the patch names, else it asks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.permissions.decision import Allow, Ask, Deny
from gatewright.permissions.rulebook.rules import RuleTexts
from tests.permissions.test_git_writes import decided

BROAD = RuleTexts(("Bash(*)",))
FORBIDDEN = RuleTexts(("Bash(*)",), deny=("Edit(prod.cfg)",))
APPLYING = ["git apply p", "git apply -p1 p", "git apply < p", "git am p", "patch -p1 < p",
            "patch -p1 -i p"]  # fmt: skip


def diff(name: str) -> str:
    head = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n"
    return f"{head}@@ -1 +1 @@\n-one\n+two\n"


def kind(root: Path, command: str, texts: RuleTexts = BROAD, mode: str = "default") -> type:
    return type(decided(root, command, texts, mode))


@pytest.mark.parametrize("command", APPLYING)
@pytest.mark.parametrize(
    "name", [".git/hooks/pre-commit", ".vscode/tasks.json", ".gatewright/settings.json", "../../x"]
)
def test_a_patch_of_a_protected_or_outside_file_asks(
    tmp_path: Path, command: str, name: str
) -> None:
    (tmp_path / "p").write_text(diff("a") + diff(name), encoding="utf-8")
    assert kind(tmp_path, command) is Ask


@pytest.mark.parametrize("command", APPLYING)
def test_a_patch_of_the_agents_own_configuration_asks_in_every_mode(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "p").write_text(diff(".gatewright/settings.json"), encoding="utf-8")
    assert kind(tmp_path, command, mode="bypassPermissions") is Ask


@pytest.mark.parametrize("command", APPLYING)
def test_a_patch_of_plain_files_runs(tmp_path: Path, command: str) -> None:
    (tmp_path / "p").write_text(diff("src/a"), encoding="utf-8")
    assert kind(tmp_path, command) is Allow
    assert kind(tmp_path, command, FORBIDDEN) is Allow


@pytest.mark.parametrize("command", APPLYING)
def test_a_patch_of_a_forbidden_file_is_denied(tmp_path: Path, command: str) -> None:
    (tmp_path / "p").write_text(diff("src/prod.cfg"), encoding="utf-8")
    assert kind(tmp_path, command, FORBIDDEN) is Deny


def test_a_patch_in_the_line_is_read_there(tmp_path: Path) -> None:
    for program in ("git apply", "patch -p1"):
        assert kind(tmp_path, f"{program} <<'E'\n{diff('src/a')}E\n") is Allow
        assert kind(tmp_path, f"{program} <<'E'\n{diff('.vscode/a')}E\n") is Ask
        assert kind(tmp_path, f"{program} <<'E'\n{diff('prod.cfg')}E\n", FORBIDDEN) is Deny


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        diff('"a\\056git/x"'),
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+.git\n",
        "diff --git a/l b/l\nrename from l\nrename to .vscode/l\n",
        diff("a") * 3 + "x" * 1_000_001,
        "".join(diff(f"n{index}") for index in range(300)),
    ],
)
def test_a_patch_that_does_not_tell_asks(tmp_path: Path, text: str) -> None:
    (tmp_path / "p").write_text(text, encoding="utf-8")
    assert kind(tmp_path, "git apply p") is Ask


@pytest.mark.parametrize(
    "command",
    ["git apply missing", "cat p | git apply", "cp q p; git apply p", "git apply $x", "git apply *",
     "git apply fifo", "git apply --unsafe-paths p", "patch -d .git -p1 -i p", "curl x | patch"],
)  # fmt: skip
def test_a_patch_that_nobody_has_read_asks(tmp_path: Path, command: str) -> None:
    (tmp_path / "p").write_text(diff("src/a"), encoding="utf-8")
    os.mkfifo(tmp_path / "fifo")
    assert kind(tmp_path, command) is Ask


def test_the_question_says_what_is_not_known(tmp_path: Path) -> None:
    assert "patch" in decided(tmp_path, "git apply p", BROAD).reason.text


def test_what_looks_only_and_the_exact_line_run(tmp_path: Path) -> None:
    assert kind(tmp_path, "git apply --check p") is Allow
    assert kind(tmp_path, "git apply p", RuleTexts(("Bash(git apply p)",))) is Allow


@pytest.mark.parametrize(
    "command",
    ["git checkout .vscode/x", "git checkout HEAD -- .git/config", "git restore .vscode/x",
     "git restore --source=HEAD~1 .npmrc", "git mv a .vscode/x"],
)  # fmt: skip
def test_replacing_a_protected_file_asks(tmp_path: Path, command: str) -> None:
    assert kind(tmp_path, command) is Ask
