"""Trust: by the real path of the repository, inherited only by work trees it knows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.trust import TrustStore, trust_key


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    home = tmp_path / "home"
    home.mkdir()
    return TrustStore(Places(home=home / ".gatewright", root=tmp_path), {"HOME": str(home)})


def git(at: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=at, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def test_nothing_is_trusted_at_first(store: TrustStore, repository: Path) -> None:
    assert not store.trusts(repository)
    assert not store.remove(repository)
    assert not store.path.exists()


def test_add_and_remove(store: TrustStore, repository: Path) -> None:
    assert store.add(repository) == repository
    assert store.trusts(repository)
    assert not store.trusts(repository.parent)
    assert not store.trusts(repository / "below")
    assert store.remove(repository)
    assert not store.trusts(repository)


def test_a_link_is_its_target(store: TrustStore, repository: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(repository)
    store.add(link)
    assert store.trusts(repository)


def test_a_work_tree_inherits(store: TrustStore, repository: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(repository, "worktree", "add", "-q", str(tree))
    assert trust_key(tree) == repository
    store.add(repository)
    assert store.trusts(tree)


def test_a_forged_work_tree_does_not(store: TrustStore, repository: Path, tmp_path: Path) -> None:
    """Anybody can write a `.git` file that names a trusted repository."""
    tree, forged = tmp_path / "tree", tmp_path / "forged"
    git(repository, "worktree", "add", "-q", str(tree))
    store.add(repository)
    forged.mkdir()
    (forged / ".git").write_bytes((tree / ".git").read_bytes())
    assert trust_key(forged) == forged
    assert not store.trusts(forged)
    for claim in ("gitdir: ../repo/.git", "gitdir: /", "gitdir: ", "nonsense", "gitdir: \0"):
        (forged / ".git").write_text(claim, encoding="utf-8")
        assert not store.trusts(forged)


def test_nothing_wide_can_be_trusted(store: TrustStore, tmp_path: Path) -> None:
    for wide in (Path("/"), tmp_path, tmp_path / "home"):
        with pytest.raises(SettingsError, match="too wide"):
            store.add(wide)
    store.path.parent.mkdir(parents=True)
    store.path.write_text(
        f'{{"trusted": {{"/": {{}}, "{tmp_path / "home"}": {{}}}}}}', encoding="utf-8"
    )
    assert not store.trusts(Path("/"))
    assert not store.trusts(tmp_path / "home")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"trusted": []}', '{"trusted": "/x"}', "\udc80"])
def test_a_broken_store_trusts_nothing(store: TrustStore, repository: Path, text: str) -> None:
    store.path.parent.mkdir(parents=True)
    store.path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert not store.trusts(repository)


@pytest.mark.parametrize("place", [".git", "record/gitdir"])
def test_a_pipe_in_place_of_a_link_to_a_repository_holds_nothing(
    store: TrustStore, tmp_path: Path, place: str
) -> None:
    project = tmp_path / "piped"
    record = tmp_path / "main" / ".git" / "worktrees" / "w"
    project.mkdir()
    record.mkdir(parents=True)
    if place == ".git":
        os.mkfifo(project / ".git")
    else:
        (project / ".git").write_text(f"gitdir: {record}\n", encoding="utf-8")
        os.mkfifo(record / "gitdir")
    assert not store.trusts(project)
