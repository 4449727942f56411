"""What we start for ourselves writes where it may, and nowhere else."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.agent.context.prompt.environment import ask_git
from gatewright.agent.history.shadow import Shadow
from gatewright.agent.history.worktree import WorkTree
from gatewright.permissions.machine.world import git_dirty
from gatewright.permissions.sandbox import machine
from gatewright.permissions.sandbox.ourselves import Ourselves
from gatewright.tools.system.git import Caller
from tests.fakes.hostile_git import Trapped

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
LINE = ["/bin/sh", "-c", 'echo x > "$1/inside"; echo x > "$2/outside"', "sh"]


@pytest.fixture
def ourselves() -> Ourselves:
    made = Ourselves()
    if list(made(["x"], [])) == ["x"]:
        pytest.skip("nothing can be confined here")
    return made


def test_it_writes_what_it_was_given(tmp_path: Path, ourselves: Ourselves) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    argv = ourselves([*LINE, str(own), str(other)], [own])
    subprocess.run(argv, capture_output=True, check=False)
    assert (own / "inside").exists()
    assert not (other / "outside").exists()


def test_it_sees_no_network(ourselves: Ourselves) -> None:
    code = "import socket; print([name for _, name in socket.if_nameindex()])"
    argv = ourselves([sys.executable, "-c", code], [])
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['lo']"


def test_git_says_the_same(tmp_path: Path, ourselves: Ourselves) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    plain, confined = Caller(ENV), Caller(ENV, wrap=ourselves)
    assert ask_git(at.root, confined) == ask_git(at.root, plain)
    assert ask_git(at.root, confined).log
    assert WorkTree(at.root, confined).changes() == WorkTree(at.root, plain).changes()
    assert asyncio.run(git_dirty(str(at.root), confined))


def test_snapshots_are_taken(tmp_path: Path, ourselves: Ourselves) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    shadow = Shadow(tmp_path / "shared", tmp_path / "own", at.root, Caller(ENV, wrap=ourselves))
    before = shadow.take().tree
    at.put("a.txt", "three\n")
    (change,) = shadow.changes(before, shadow.take().tree)
    assert (change.path, shadow.blob(change.old)) == ("a.txt", b"two\n")


def test_where_nothing_can_be_confined_it_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_bwrap", lambda: "/bin/false")
    assert Ourselves()(["/bin/true"], []) == ["/bin/true"]
    monkeypatch.setattr(machine, "find_bwrap", lambda: "")
    assert Ourselves()(["/bin/true"], []) == ["/bin/true"]
