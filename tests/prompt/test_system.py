"""The system prompt is lean, stable, and says what it must."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gatewright.agent.compact.estimate import text_tokens
from gatewright.agent.context.prompt.environment import (
    STATUS_LIMIT,
    Environment,
    ask_git,
    look_around,
)
from gatewright.agent.context.prompt.output_style import BUILT_IN, NO_STYLE, built_in
from gatewright.agent.context.prompt.system import (
    SECTIONS,
    PromptParts,
    standard,
    system_prompt,
)
from gatewright.tools.system.git import Caller

ENV = Caller({"PATH": os.environ["PATH"], "HOME": "/nonexistent", "SHELL": "/bin/zsh"})


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Somebody", "-c", "user.email=s@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "trunk")
    git(tmp_path, "config", "user.name", "Somebody Else")
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    git(tmp_path, "add", "a.txt")
    git(tmp_path, "commit", "-q", "-m", "First words")
    return tmp_path


def test_it_is_lean() -> None:
    sizes = {
        name: text_tokens(text)
        for name, text in zip(SECTIONS, standard().split("\n# "), strict=False)
    }
    assert sum(sizes.values()) < 2_500
    styles = [style for name in BUILT_IN if (style := built_in(name))]
    assert len(styles) == 5
    assert all(text_tokens(style.section()) < 250 for style in styles)
    assert "  \n" not in standard()


def test_two_blocks_and_what_replaces_them() -> None:
    both = system_prompt(
        PromptParts(
            own=("# Environment\n", ""), style=built_in("concise") or NO_STYLE, appended="Also."
        )
    )
    assert both[0] == standard()
    assert both[1].startswith("# Style: concise")
    assert both[1].endswith("# Environment\n\nAlso.")
    assert system_prompt(PromptParts(replaced="Mine.")) == ("Mine.",)
    assert system_prompt(PromptParts(replaced="")) == ()
    assert NO_STYLE.section() == ""
    assert built_in("nonsense") is None


def test_what_git_says(repository: Path) -> None:
    (repository / "new.txt").write_text("n", encoding="utf-8")
    text = look_around(repository, repository, ENV, "2026-01-02").section()
    assert "- Git branch: trunk" in text
    assert "- Commits are made as: Somebody Else" in text
    assert "?? new.txt" in text
    assert "First words" in text
    assert "commands run in zsh" in text
    (repository / "new.txt").unlink()
    assert "(clean)" in look_around(repository, repository, ENV, "d").section()


def test_a_long_status_is_cut_at_a_line(repository: Path) -> None:
    for number in range(300):
        (repository / f"file-{number:03}.txt").write_text("", encoding="utf-8")
    text = look_around(repository, repository, ENV, "d").section()
    assert len(text) < STATUS_LIMIT + 700
    assert "more; run git status to see them)" in text


def test_no_repository_and_no_git(tmp_path: Path) -> None:
    text = look_around(tmp_path, tmp_path, ENV, "d").section()
    assert "Git" not in text
    (tmp_path / ".git").mkdir()
    assert ask_git(tmp_path, Caller({"PATH": "/nonexistent"})).status == ""


def test_looking_at_a_repository_runs_nothing_of_its_own(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    bait = f"touch {trap}; cat"
    for key in ("core.fsmonitor", "filter.x.clean", "core.pager", "diff.external", "gpg.program"):
        git(repository, "config", key, bait)
    git(repository, "config", "log.showSignature", "true")
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{bait}\n", encoding="utf-8")
    hook.chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=x\n", encoding="utf-8")
    (repository / "a.txt").write_text("b", encoding="utf-8")
    found = ask_git(repository, ENV)
    assert not trap.exists()
    assert found.log.endswith("First words")
    assert found.status.splitlines()[1:] == [" M a.txt", "?? .gitattributes"]


def test_a_filter_of_one_work_tree_alone_does_not_run(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "config", "--worktree", "filter.x.clean", f"touch {trap}; cat")
    (repository / ".gitattributes").write_text("* filter=x\n", encoding="utf-8")
    (repository / "a.txt").write_text("b", encoding="utf-8")
    assert " M a.txt" in ask_git(repository, ENV).status
    assert not trap.exists()


def test_a_repository_does_not_have_another_directory_described(
    repository: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "private.txt").touch()
    git(repository, "config", "core.worktree", str(elsewhere))
    assert "private" not in ask_git(repository, ENV).status


def test_the_same_twice(repository: Path) -> None:
    def look() -> Environment:
        return look_around(repository, repository, ENV, "d")

    assert look() == look()
