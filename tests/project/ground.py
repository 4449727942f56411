"""A repository with a demo list, for the tests of projects."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from gatewright.agent.autonomy.project.features import Feature, FeatureList, State
from gatewright.agent.autonomy.project.project_file import ProjectFile
from gatewright.tools.system.git import Caller
from tests.fakes.hostile_git import IDENTITY
from tests.fakes.waiting import PATIENCE

GOAL = "A tiny shop"
BRANCH = "project/a-tiny-shop"


def demo(*states: State) -> FeatureList:
    """Features f1, f2, ... in these states, each checked by a file of its own."""
    made = [
        Feature(
            id=f"f{n}",
            title=f"Feature {n}",
            acceptance=f"There is a file f{n}.txt",
            check=f"test -e f{n}.txt",
            state=state,
        )
        for n, state in enumerate(states or ("pending", "pending"), 1)
    ]
    return FeatureList(goal=GOAL, features=tuple(made))


def git(root: Path, *arguments: str, check: bool = True) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **IDENTITY}
    done = subprocess.run(
        ["git", *arguments], cwd=root, env=env, check=check,
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    return done.stdout


def repository(root: Path, listed: FeatureList | None = None) -> ProjectFile:
    """With one commit on main, and a list that is not committed yet."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\n", encoding="utf-8")
    git(root, "add", "a.txt")
    git(root, "commit", "-qm", "first")
    file = ProjectFile(root)
    file.write(listed or demo())
    return file


def caller() -> Caller:
    return Caller({"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
