"""Our own git runs nothing of a repository, hangs in none, and still says what is true."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from gatewright.agent.context.prompt.environment import ask_git, git_branch
from gatewright.agent.history.shadow import Shadow
from gatewright.agent.history.worktree import WorkTree
from gatewright.permissions.machine.world import git_dirty
from gatewright.permissions.sandbox.disk.repository import believed, git_parts, linked_parts
from gatewright.tools.system import git as our_git
from gatewright.tools.system.git import Caller, git_in
from gatewright.tools.system.gitfiles import branch_of, committer, repository_of
from tests.fakes.hostile_git import VECTORS, Trapped
from tests.fakes.waiting import PATIENCE

CALLER = Caller({"PATH": os.environ["PATH"], "HOME": "/nonexistent"})


def everything(root: Path, own: Path, caller: Caller = CALLER) -> None:
    """Every use that the product has for git; each may fail, none may run or hang."""
    branch_of(root)
    git_branch(root)
    ask_git(root, caller)
    tree = WorkTree(root, caller)
    for look in (tree.changes, lambda: tree.old("a.txt"), lambda: tree.new("a.txt")):
        with suppress(OSError):
            look()
    with suppress(OSError):
        shadow = Shadow(own / "shared", own / "own", root, caller)
        before = shadow.take().tree
        (root / "new.txt").write_text("new", encoding="utf-8")
        shadow.changes(before, shadow.take().tree)
    asyncio.run(git_dirty(str(root), caller))


@pytest.mark.parametrize("name", VECTORS)
def test_nothing_of_a_repository_runs(tmp_path: Path, name: str) -> None:
    vector = VECTORS[name]
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    vector.plant(at)
    everything(at.root, tmp_path / "own")
    assert not at.sprung()
    if vector.springs:  # the vector is a real one
        at.git(*vector.springs, check=False)
        assert at.sprung(), "plain git should have run it"


@pytest.mark.parametrize("name", ["clean filter of a gitlink", "file monitor of a gitlink"])
def test_no_second_git_is_found_where_a_submodule_would_be_looked_into(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the first wall the next one holds."""
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    VECTORS[name].plant(at)
    monkeypatch.setattr(our_git, "COMMANDS", {"status": ("--ignore-submodules=none",)})
    with git_in(CALLER, at.root) as git, suppress(OSError):
        git.run("status", "--porcelain", seconds=PATIENCE)
    assert not at.sprung()


def test_the_environment_of_another_git_is_not_taken_over(tmp_path: Path) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    env = {
        **CALLER.env,
        "GIT_EXTERNAL_DIFF": at.trap,
        "GIT_DIR": str(tmp_path),
        "GIT_INDEX_FILE": str(tmp_path / "nothing"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": at.trap,
    }
    everything(at.root, tmp_path / "own", Caller(env))
    assert [each.path for each in WorkTree(at.root, Caller(env)).changes()][:1] == ["a.txt"]
    assert not at.sprung()


def _fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(path.name)


def _huge(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.truncate(8 * 1024**3)


PLACES = (
    ".git/HEAD", ".git/config", ".git/index", ".git/packed-refs", ".git/commondir",
    ".git/shallow", ".git/info/exclude", ".git/refs/heads/main",
)  # fmt: skip


@pytest.mark.parametrize("make", [_fifo, _endless, _loop, _huge], ids=lambda one: one.__name__)
@pytest.mark.parametrize("place", PLACES)
def test_no_file_of_a_repository_holds_us_up(
    tmp_path: Path, place: str, make: Callable[[Path], None]
) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    make(at.root / place)
    begun = time.monotonic()
    branch_of(at.root)
    ask_git(at.root, CALLER)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("place", [".gitattributes", ".gitignore", "sub/.git/HEAD"])
def test_what_git_itself_opens_has_a_limit(tmp_path: Path, place: str) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    _fifo(at.root / place)
    (at.root / "sub" / ".git" / "objects").mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    ask_git(at.root, CALLER)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("make", [_fifo, _endless, _loop], ids=lambda one: one.__name__)
def test_what_is_no_repository_at_all_is_none(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / ".git")
    assert branch_of(tmp_path) == ""
    assert repository_of(tmp_path) is None


def test_an_answer_has_a_size_and_a_time(tmp_path: Path) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    with git_in(CALLER, at.root) as git:
        with pytest.raises(OSError, match="printed more than 3 bytes"):
            git.run("log", seconds=PATIENCE, most=3)
        with pytest.raises(TimeoutError):
            git.run("log", seconds=0)
        with pytest.raises(KeyError):
            git.run("push", seconds=PATIENCE)
        with pytest.raises(OSError, match="fetch"):  # nobody is reached
            git.run("fetch", str(at.root), "HEAD", seconds=PATIENCE)


def test_a_head_that_is_no_reference_shows_nothing_of_the_file_it_is(tmp_path: Path) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    secret = tmp_path / "secret"
    secret.write_text("s3cr3t-words", encoding="utf-8")
    (at.root / ".git" / "HEAD").unlink()
    (at.root / ".git" / "HEAD").symlink_to(secret)
    assert branch_of(at.root) == git_branch(at.root) == ""


def test_a_linked_work_tree_is_its_own(tmp_path: Path) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    other = tmp_path / "other"
    at.git("worktree", "add", "-q", "-b", "topic", str(other))
    (other / "a.txt").write_text("three\n", encoding="utf-8")
    found = ask_git(other, CALLER)
    assert branch_of(other) == "topic"
    assert found.status.splitlines() == ["## topic", " M a.txt"]
    assert found.log.endswith("first")
    assert asyncio.run(git_dirty(str(other), CALLER))


def test_a_shallow_clone_is_described(tmp_path: Path) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    at.git("commit", "-qam", "second")
    at.git("clone", "-q", "--depth", "1", f"file://{at.root}", str(tmp_path / "clone"))
    assert ask_git(tmp_path / "clone", CALLER).log.endswith("second")
    assert not asyncio.run(git_dirty(str(tmp_path / "clone"), CALLER))


def test_line_endings_are_those_of_the_settings(tmp_path: Path) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    at.git("commit", "-qam", "second")
    at.config("core.autocrlf", "true")
    at.put("a.txt", "two\r\n")
    assert [each.path for each in WorkTree(at.root, CALLER).changes()] == ["trap.sh"]


def test_a_change_of_the_same_size_in_the_same_moment_is_seen(tmp_path: Path) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    (at.root / "trap.sh").unlink()
    at.git("commit", "-qam", "second")
    at.put("a.txt", "six\n")
    assert asyncio.run(git_dirty(str(at.root), CALLER))


def test_the_person_s_own_ignore_file_counts(tmp_path: Path) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    ignore = tmp_path / "home" / ".config" / "git" / "ignore"
    ignore.parent.mkdir(parents=True)
    ignore.write_text("trap.sh\n", encoding="utf-8")
    caller = Caller({**CALLER.env, "HOME": str(tmp_path / "home")})
    assert "trap.sh" in ask_git(at.root, CALLER).status
    assert "trap.sh" not in ask_git(at.root, caller).status


def test_a_name_is_told_only_where_it_is_known(tmp_path: Path) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home)}
    found = repository_of(at.root)
    assert found is not None
    (home / ".gitconfig").write_text('[user]\n\tname = "Some Body" ; x\n', encoding="utf-8")
    assert committer(found, env) == "Some Body"
    with (home / ".gitconfig").open("a", encoding="utf-8") as file:
        file.write('[includeIf "gitdir:~/work/"]\n\tpath = work\n')
    assert committer(found, env) == ""
    at.config("user.name", "Somebody Else")
    assert committer(found, env) == "Somebody Else"


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    before = subprocess.run(["ls", "-lR", at.root / ".git"], capture_output=True, check=True).stdout
    ask_git(at.root, CALLER)
    WorkTree(at.root, CALLER).changes()
    after = subprocess.run(["ls", "-lR", at.root / ".git"], capture_output=True, check=True).stdout
    assert list(scratch.iterdir()) == []
    assert before == after


@pytest.mark.parametrize("place", [".git", ".git/config", ".git/HEAD", "sub/.git"])
def test_what_the_sandbox_reads_of_a_repository_holds_no_command_up(
    tmp_path: Path, place: str
) -> None:
    at = Trapped.make(tmp_path / "project", tmp_path / "marks")
    if (at.root / place).is_dir():
        (at.root / place).rename(at.root / "was")
    _fifo(at.root / place)
    root = str(at.root)
    git_parts(f"{root}/.git")
    linked_parts(f"{root}/{place}", (root,))
    assert not believed(f"{root}/{place}", (f"{root}/.git",))
