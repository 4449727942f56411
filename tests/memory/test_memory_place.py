"""Where a memory lies: work trees share one, and no repository comes by another's."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from gatewright.agent.autonomy.memory.memory_place import main_tree, memory_folder
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.workspace import Surroundings, survey


def git(folder: Path, *words: str) -> None:
    said = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words)
    subprocess.run(said, cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def around(folder: Path, home: Path, **own: str) -> Surroundings:
    settings = home / ".gatewright" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(own), encoding="utf-8")
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    return survey(LaunchOptions(cwd=str(folder), trust=True), env, interactive=True)


def test_work_trees_share_and_repositories_do_not(tmp_path: Path) -> None:
    one, other = repository(tmp_path / "one"), repository(tmp_path / "other")
    git(one, "worktree", "add", "-q", str(tmp_path / "tree"))
    (one / "below").mkdir()
    folders = [
        memory_folder(around(place, tmp_path / "home"))
        for place in (one, one / "below", tmp_path / "tree", other)
    ]
    assert [problem for _, problem in folders] == ["", "", "", ""]
    assert folders[0] == folders[1] == folders[2] != folders[3]
    assert (
        folders[0][0].parent == Path(os.path.realpath(tmp_path)) / "home/.gatewright/state/memory"
    )
    assert not folders[0][0].exists()


def test_paths_that_look_alike_in_a_name_are_two_repositories(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    names = ("acme/billing", "acme-billing", "acme_billing")
    alike = [repository(tmp_path / name) for name in names]
    folders = {memory_folder(around(each, tmp_path / "home"))[0] for each in alike}
    assert len(folders) == 3
    assert all("acme-billing" in folder.name for folder in folders)


def test_a_git_directory_is_no_work_tree_of_another(tmp_path: Path) -> None:
    """Git writes a file there; a directory that says it belongs elsewhere came with a download."""
    outer = repository(tmp_path / "outer")
    evil = outer / "worktrees"
    (evil / ".git").mkdir(parents=True)
    (evil / ".git" / "HEAD").write_text("ref: refs/heads/x\n", encoding="utf-8")
    (evil / ".git" / "commondir").write_text("../..\n", encoding="utf-8")
    (evil / ".git" / "gitdir").write_text(f"{evil}/.git\n", encoding="utf-8")
    assert main_tree(evil) == evil


def test_a_git_file_that_points_elsewhere_gets_nobody_elses(tmp_path: Path) -> None:
    one, evil = repository(tmp_path / "one"), tmp_path / "evil"
    git(one, "worktree", "add", "-q", str(tmp_path / "tree"))
    evil.mkdir()
    for text in (
        f"gitdir: {one}/.git/worktrees/tree\n",
        f"gitdir: {one}/.git\n",
        "gitdir: ../nowhere\n",
        "no link",
    ):
        (evil / ".git").write_text(text, encoding="utf-8")
        assert main_tree(evil) == evil, text
    assert main_tree(tmp_path / "tree") == one
    (evil / ".git").unlink()
    (evil / ".git").symlink_to(one / ".git")
    assert main_tree(evil) == evil


def test_a_place_of_ones_own_is_outside_of_the_project(tmp_path: Path) -> None:
    one, home = repository(tmp_path / "one"), tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    found, problem = memory_folder(around(one, home, autoMemoryDirectory="~/notes"))
    assert (found.parent, problem) == (home / "notes", "")
    (home / "led").symlink_to(one)
    for inside in (str(one), f"{one}/.gatewright/notes", str(home / "led")):
        _, problem = memory_folder(around(one, home, autoMemoryDirectory=inside))
        assert "outside of it" in problem


@pytest.mark.parametrize("source", ["settings.json", "settings.local.json"])
def test_a_project_says_neither_where_nor_more_than_the_person(tmp_path: Path, source: str) -> None:
    one, home = repository(tmp_path / "one"), tmp_path / "home"
    (one / ".gatewright").mkdir()
    said = json.dumps({"autoMemory": "on", "autoMemoryDirectory": str(tmp_path)})
    (one / ".gatewright" / source).write_text(said, encoding="utf-8")
    settings = around(one, home).settings
    assert (settings.auto_memory, settings.auto_memory_directory) == ("off", "")
    assert around(one, home, autoMemory="ask").settings.auto_memory == "ask"
    (one / ".gatewright" / source).write_text('{"autoMemory": "off"}', encoding="utf-8")
    assert around(one, home, autoMemory="on").settings.auto_memory == "off"
