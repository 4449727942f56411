"""The examples of docs/worktrees.md run, and what the page says of the tree is so."""

from __future__ import annotations

import subprocess

import pytest

from tests.docs.test_examples import commit, examples
from tests.e2e.program import Program

pytestmark = pytest.mark.e2e


def test_the_first_example(program: Program) -> None:
    (program.project / "a.txt").write_text("a\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=program.project, check=True, capture_output=True)
    commit(program.project, "first")
    (start, listing) = examples("worktrees.md", "sh")[0].splitlines()
    words = start.split("agent ", 1)[1]
    done = program.run(*(word.strip('"') for word in words.split()))
    assert done.returncode == 0, done.stderr
    shown = subprocess.run(
        listing.split(), cwd=program.project, check=True, capture_output=True, text=True
    ).stdout
    assert ".gatewright/worktrees/fix-login" in shown and "[worktree/fix-login]" in shown
    tree = program.project / ".gatewright/worktrees/fix-login"
    assert (tree / "a.txt").exists()
    assert "fix-login  worktree/fix-login  clean" in program.run("agents", "worktrees").stdout
    (tree / "new.txt").write_text("new", encoding="utf-8")
    assert "1 file untracked: new.txt" in program.run("agents", "worktrees").stdout
