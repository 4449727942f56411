"""Commits of a project: one a feature, nothing of the person's in them, nothing lost by a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.agent.autonomy.project.commits import Commits
from gatewright.agent.autonomy.project.features import Feature, ProjectError, State
from gatewright.agent.autonomy.project.project_file import ProjectFile
from tests.fakes.hostile_git import Trapped
from tests.project.ground import BRANCH, caller, demo, git, repository


def commits(root: Path) -> Commits:
    return Commits(caller(), root, BRANCH)


def finish(file: ProjectFile, id: str, state: State = "done") -> Feature:
    feature = replace(file.read().find(id), state=state)
    file.put(feature)
    return feature


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").split("\n")[:-1]


def test_each_feature_is_a_commit_on_a_branch_of_its_own(tmp_path: Path) -> None:
    file = repository(tmp_path)
    made = commits(tmp_path)
    assert made.begin(file.read()).branch == BRANCH
    assert git(tmp_path, "symbolic-ref", "HEAD").strip() == f"refs/heads/{BRANCH}"
    for id in ("f1", "f2"):
        (tmp_path / f"{id}.txt").write_text(id, encoding="utf-8")
        assert made.commit(finish(file, id))
        assert git(tmp_path, "status", "--porcelain") == ""
    assert subjects(tmp_path) == ["Feature 2", "Feature 1", "first"]
    assert git(tmp_path, "show", "--name-only", "--format=", "HEAD").split() == [
        ".gatewright/project/features.json",
        "f2.txt",
    ]
    assert git(tmp_path, "rev-parse", "main") == git(tmp_path, "rev-parse", "HEAD~2")
    assert "Feature: f2" in git(tmp_path, "log", "-1", "--format=%B")
    git(tmp_path, "fsck", "--strict")


def test_what_is_ours_besides_the_list_is_not_committed(tmp_path: Path) -> None:
    file = repository(tmp_path)
    made = commits(tmp_path)
    made.begin(file.read())
    (tmp_path / ".gatewright" / "plans").mkdir()
    (tmp_path / ".gatewright" / "plans" / "x.md").write_text("plan", encoding="utf-8")
    (tmp_path / "a.txt").unlink()
    made.commit(finish(file, "f1"))
    assert git(tmp_path, "ls-files").split() == [".gatewright/project/features.json"]


def test_a_list_that_git_ignores_is_committed(tmp_path: Path) -> None:
    file = repository(tmp_path)
    (tmp_path / ".git" / "info" / "exclude").write_text(".gatewright/\n", encoding="utf-8")
    made = commits(tmp_path)
    made.begin(file.read())
    assert made.commit(finish(file, "f1"))
    assert '"done"' in git(tmp_path, "show", "HEAD:.gatewright/project/features.json")


def test_changes_of_the_person_become_no_part_of_a_feature(tmp_path: Path) -> None:
    file = repository(tmp_path)
    (tmp_path / "a.txt").write_text("mine\n", encoding="utf-8")
    (tmp_path / "new.txt").write_text("mine\n", encoding="utf-8")
    with pytest.raises(ProjectError, match=r"a\.txt, new\.txt.*commit or stash"):
        commits(tmp_path).begin(file.read())
    assert git(tmp_path, "symbolic-ref", "HEAD").strip() == "refs/heads/main"


def test_what_was_done_and_not_committed_is_committed_at_the_next_begin(tmp_path: Path) -> None:
    file = repository(tmp_path)
    commits(tmp_path).begin(file.read())
    (tmp_path / "f1.txt").write_text("f1", encoding="utf-8")
    finish(file, "f1")  # and here the process dies
    again = commits(tmp_path).begin(file.read())
    assert again.left.startswith("f1 (")
    assert subjects(tmp_path) == ["Feature 1", "first"]
    assert git(tmp_path, "status", "--porcelain") == ""
    assert commits(tmp_path).begin(file.read()).left == ""


def test_work_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    file = repository(tmp_path)
    made = commits(tmp_path)
    made.begin(file.read())
    made.commit(finish(file, "f1"))
    (tmp_path / "f2.txt").write_text("half", encoding="utf-8")
    with pytest.raises(ProjectError, match=r"f2\.txt"):
        made.begin(file.read())
    finish(file, "f2", "doing")
    assert made.begin(file.read()).left == ""


def test_a_blocked_feature_says_so(tmp_path: Path) -> None:
    file = repository(tmp_path)
    made = commits(tmp_path)
    made.begin(file.read())
    made.commit(replace(finish(file, "f1", "blocked"), note="no such service"))
    assert "Leave blocked: Feature 1\n\nno such service" in git(
        tmp_path, "log", "-1", "--format=%B"
    )


def test_a_detached_head_gets_a_branch(tmp_path: Path) -> None:
    file = repository(tmp_path)
    git(tmp_path, "checkout", "-q", "--detach")
    made = commits(tmp_path)
    made.begin(file.read())
    assert made.commit(finish(file, "f1"))
    assert git(tmp_path, "symbolic-ref", "--short", "HEAD").strip() == BRANCH


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    file = ProjectFile(tmp_path)
    file.write(demo())
    made = commits(tmp_path)
    made.begin(file.read())
    assert made.commit(finish(file, "f1"))
    assert subjects(tmp_path) == ["Feature 1"]


def test_without_git_nothing_is_committed_and_it_says_so(tmp_path: Path) -> None:
    file = ProjectFile(tmp_path)
    file.write(demo())
    made = commits(tmp_path)
    assert "not the top of a git checkout" in made.begin(file.read()).why
    assert made.commit(finish(file, "f1")) == ""


def test_a_branch_with_other_commits_is_the_persons(tmp_path: Path) -> None:
    file = repository(tmp_path)
    git(tmp_path, "branch", BRANCH)
    git(tmp_path, "commit", "-qm", "more", "--allow-empty")
    with pytest.raises(ProjectError, match=f"git switch {BRANCH}"):
        commits(tmp_path).begin(file.read())
    git(tmp_path, "branch", "-f", BRANCH)
    assert commits(tmp_path).begin(file.read()).branch == BRANCH


def test_a_branch_that_cannot_be_there_is_told(tmp_path: Path) -> None:
    file = repository(tmp_path)
    git(tmp_path, "branch", "project")
    with pytest.raises(ProjectError, match="could not be begun"):
        commits(tmp_path).begin(file.read())


def test_a_merge_with_conflicts_comes_first(tmp_path: Path) -> None:
    file = repository(tmp_path)
    git(tmp_path, "checkout", "-qb", "other")
    (tmp_path / "a.txt").write_text("other\n", encoding="utf-8")
    git(tmp_path, "commit", "-qam", "other")
    git(tmp_path, "checkout", "-q", "main")
    (tmp_path / "a.txt").write_text("main\n", encoding="utf-8")
    git(tmp_path, "commit", "-qam", "main")
    git(tmp_path, "merge", "other", check=False)
    with pytest.raises(ProjectError, match="a merge is in progress"):
        commits(tmp_path).begin(file.read())
    (tmp_path / ".git" / "MERGE_HEAD").unlink()
    with pytest.raises(ProjectError, match="conflicts"):
        commits(tmp_path).begin(file.read())


def test_head_that_moved_away_is_told_and_nothing_is_committed(tmp_path: Path) -> None:
    file = repository(tmp_path)
    made = commits(tmp_path)
    made.begin(file.read())
    git(tmp_path, "checkout", "-q", "main")
    with pytest.raises(ProjectError, match="on main and not on"):
        made.commit(finish(file, "f1"))
    assert subjects(tmp_path) == ["first"]


def test_a_git_that_works_here_is_not_disturbed(tmp_path: Path) -> None:
    file = repository(tmp_path)
    made = commits(tmp_path)
    made.begin(file.read())
    lock = tmp_path / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(ProjectError, match=r"index\.lock"):
        made.commit(finish(file, "f1"))
    assert subjects(tmp_path) == ["first"]
    lock.unlink()
    assert made.commit(file.read().find("f1"))


def test_a_filter_of_the_repository_is_not_run(tmp_path: Path) -> None:
    file = repository(tmp_path)
    git(tmp_path, "config", "filter.x.clean", "touch sprung")
    made = commits(tmp_path)
    assert "a filter" in made.begin(file.read()).why
    assert made.commit(finish(file, "f1")) == ""


def test_no_program_of_a_hostile_repository_runs(tmp_path: Path) -> None:
    trapped = Trapped.make(tmp_path / "r", tmp_path / "marks")
    trapped.git("commit", "-qam", "second")
    trapped.git("add", "-A")
    trapped.git("commit", "-qm", "third")
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction",
                 "post-index-change"):  # fmt: skip
        trapped.script(f".git/hooks/{hook}", f'touch "{trapped.marks}/{hook}"')
    trapped.config("core.fsmonitor", trapped.trap)
    trapped.config("gpg.program", trapped.trap)
    trapped.config("commit.gpgsign", "true")
    trapped.reset()
    file = ProjectFile(trapped.root)
    file.write(demo())
    made = commits(trapped.root)
    made.begin(file.read())
    assert made.commit(finish(file, "f1"))
    assert not trapped.sprung()


def test_what_was_ignored_or_may_be_a_secret_stays_out_of_a_commit(tmp_path: Path) -> None:
    """A feature that empties .gitignore, or adds by itself, takes nothing of the person's along."""
    file = repository(tmp_path)
    (tmp_path / ".gitignore").write_text("notes.txt\nbuild/\n", encoding="utf-8")
    git(tmp_path, "add", ".gitignore")
    git(tmp_path, "commit", "-qm", "ignores")
    (tmp_path / "build").mkdir()
    for name in ("notes.txt", "build/x"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    made = commits(tmp_path)
    made.begin(file.read())
    (tmp_path / ".gitignore").write_text("", encoding="utf-8")
    for name in (".env", ".env.example", "ID_RSA", "f1.txt"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    git(tmp_path, "add", "-A")
    said = made.commit(finish(file, "f1"))
    assert said.endswith(", without .env, ID_RSA, build/x, notes.txt")
    assert git(tmp_path, "show", "--name-only", "--format=", "HEAD").split() == [
        ".env.example", ".gatewright/project/features.json", ".gitignore", "f1.txt",
    ]  # fmt: skip
    assert git(tmp_path, "ls-files", "notes.txt", ".env", "build") == ""
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_list_that_came_as_begun_makes_nobodys_changes_its_own(tmp_path: Path) -> None:
    file = repository(tmp_path, demo("doing", "pending"))
    git(tmp_path, "checkout", "-qb", BRANCH)
    git(tmp_path, "add", "-f", "-A")
    git(tmp_path, "commit", "-qm", "theirs")
    (tmp_path / "a.txt").write_text("mine\n", encoding="utf-8")
    with pytest.raises(ProjectError, match=r"a\.txt.*commit or stash"):
        commits(tmp_path).begin(file.read())


@pytest.mark.parametrize("how", ["file", "link"])
def test_nothing_is_committed_into_another_repository(tmp_path: Path, how: str) -> None:
    repository(tmp_path / "other")
    file = ProjectFile(tmp_path / "here")
    file.write(demo())
    mark = tmp_path / "here" / ".git"
    if how == "file":
        mark.write_text("gitdir: ../other/.git\n", encoding="utf-8")
    else:
        mark.symlink_to(tmp_path / "other" / ".git")
    made = commits(tmp_path / "here")
    assert "does not know of it" in made.begin(file.read()).why
    assert made.commit(finish(file, "f1")) == ""
    assert git(tmp_path / "other", "symbolic-ref", "HEAD").strip() == "refs/heads/main"


def test_a_repository_that_is_put_there_meanwhile_gets_no_commit(tmp_path: Path) -> None:
    file = repository(tmp_path / "here")
    made = commits(tmp_path / "here")
    made.begin(file.read())
    repository(tmp_path / "other")
    git(tmp_path / "other", "checkout", "-qb", BRANCH)
    (tmp_path / "here" / ".git").rename(tmp_path / "old")
    (tmp_path / "here" / ".git").symlink_to(tmp_path / "other" / ".git")
    with pytest.raises(ProjectError, match="another one now"):
        made.commit(finish(file, "f1"))
    assert subjects(tmp_path / "other") == ["first"]


def test_linked_work_trees_and_submodules_are_committed_to(tmp_path: Path) -> None:
    repository(tmp_path / "main")
    git(tmp_path / "main", "worktree", "add", "-q", "-b", "x", str(tmp_path / "tree"))
    local = ("-c", "protocol.file.allow=always")
    git(tmp_path / "main", *local, "submodule", "add", "-q", str(tmp_path / "tree"), "sub")
    for root in (tmp_path / "tree", tmp_path / "main" / "sub"):
        file = ProjectFile(root)
        file.write(demo())
        made = Commits(caller(), root, f"project/{root.name}")
        assert made.begin(file.read()).why == ""
        assert made.commit(finish(file, "f1"))


def test_a_filter_that_is_the_persons_own_is_not_gone_round(tmp_path: Path) -> None:
    """What git-lfs keeps elsewhere would be committed as it lies here."""
    file = repository(tmp_path)
    made = commits(tmp_path)
    made.begin(file.read())
    (tmp_path / "f1.bin").write_text("large", encoding="utf-8")
    (tmp_path / ".gitattributes").write_text("*.bin filter=lfs -text\n", encoding="utf-8")
    with pytest.raises(ProjectError, match=r"f1 is done and not committed: .*filter"):
        made.commit(finish(file, "f1"))
    assert subjects(tmp_path) == ["first"]
    assert "a filter" in commits(tmp_path).begin(file.read()).why


def test_a_nested_repository_stays_out(tmp_path: Path) -> None:
    file = repository(tmp_path)
    made = commits(tmp_path)
    made.begin(file.read())
    (tmp_path / "inner").mkdir()
    git(tmp_path / "inner", "init", "-q")
    (tmp_path / "inner" / "x").write_text("x", encoding="utf-8")
    assert made.commit(finish(file, "f1"))
    assert "inner" not in git(tmp_path, "ls-files")
