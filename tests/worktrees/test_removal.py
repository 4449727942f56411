"""Sixty ways in which a work tree may be when it is to go: no byte is lost, the checkout stays."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.agent.worktrees import checking, removing
from gatewright.agent.worktrees.checking import Held
from gatewright.agent.worktrees.record import Record
from gatewright.tools.system.git import Caller, Git
from gatewright.tools.system.lifetimes import Lifetime
from tests.worktrees.ground import ENV, Checkout, hashed

GONE = ""  # the only word for "it was removed"
Change = Callable[[Checkout, Record], object]
Check = Callable[..., Held]


def git(*arguments: str) -> Change:
    return lambda at, tree: at.git(*arguments, root=tree.tree)


def put(name: str, text: str = "new\n") -> Change:
    return lambda at, tree: at.put(name, text, tree.tree)


def all_of(*changes: Change) -> Change:
    def change(at: Checkout, tree: Record) -> None:
        for each in changes:
            each(at, tree)

    return change


def commit(*more: str) -> Change:
    return all_of(put("c.txt"), git("add", "."), git("commit", "-qm", "work", *more))


def old(name: str) -> Change:
    """A file whose times say that it was there long before the tree."""

    def change(at: Checkout, tree: Record) -> None:
        os.utime(at.put(name, "kept\n", tree.tree), (1_000_000, 1_000_000))

    return change


def same_times(at: Checkout, tree: Record) -> None:
    """Other bytes of the same length, with the times that the index knows."""
    path = tree.tree / "a.txt"
    info = path.stat()
    path.write_text("eno\n", encoding="utf-8")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def rebase(at: Checkout, tree: Record) -> None:
    (tree.admin / "rebase-merge").mkdir()


def conflict(at: Checkout, tree: Record) -> None:
    at.git("checkout", "-q", "-b", "other")
    at.put("a.txt", "theirs\n")
    at.git("commit", "-qam", "theirs")
    at.git("checkout", "-q", "main")
    at.put("a.txt", "ours\n", tree.tree)
    at.git("commit", "-qam", "ours", root=tree.tree)
    at.git("merge", "other", root=tree.tree, check=False)


def nested(name: str) -> Change:
    def change(at: Checkout, tree: Record) -> None:
        inner = tree.tree / name
        inner.mkdir(parents=True)
        at.git("init", "-q", root=inner)
        at.put("x.txt", "x\n", inner)
        at.git("add", ".", root=inner)
        at.git("commit", "-qm", "inner", root=inner)

    return change


def submodule(at: Checkout, tree: Record) -> None:
    lib = at.root.parent / "lib"
    lib.mkdir()
    at.git("init", "-q", root=lib)
    at.put("l.txt", "l\n", lib)
    at.git("add", ".", root=lib)
    at.git("commit", "-qm", "lib", root=lib)
    allow = ("-c", "protocol.file.allow=always")
    at.git(*allow, "submodule", "-q", "add", str(lib), "lib", root=tree.tree)


def swapped(at: Checkout, tree: Record) -> None:
    """The directory is another one now, of the same name."""
    tree.tree.rename(tree.tree.with_name("aside"))
    shutil.copytree(tree.tree.with_name("aside"), tree.tree)


def linked_away(at: Checkout, tree: Record) -> None:
    tree.tree.rename(at.root.parent / "elsewhere")
    tree.tree.symlink_to(at.root.parent / "elsewhere")


def repointed(at: Checkout, tree: Record) -> None:
    """Its `.git` names the person's own repository."""
    (tree.tree / ".git").write_text(f"gitdir: {at.root}/.git\n", encoding="utf-8")


def link_out(at: Checkout, tree: Record) -> None:
    (tree.tree / "out").symlink_to(at.root)


def link_for_folder(at: Checkout, tree: Record) -> None:
    """A directory with committed files is a link to the person's checkout."""
    shutil.rmtree(tree.tree / "sub")
    (tree.tree / "sub").symlink_to(at.root / "sub")


def pipe(at: Checkout, tree: Record) -> None:
    os.mkfifo(tree.tree / "pipe")


def drop(name: str) -> Change:
    return lambda at, tree: (tree.tree / name).unlink()


def forged_index(at: Checkout, tree: Record) -> None:
    at.put("a.txt", "changed\n", tree.tree)
    at.git("update-index", "--assume-unchanged", "a.txt", root=tree.tree)


def reset_back(at: Checkout, tree: Record) -> None:
    commit()(at, tree)
    at.git("reset", "-q", "--hard", "HEAD~1", root=tree.tree)


def broken_index(at: Checkout, tree: Record) -> None:
    (tree.admin / "index").write_bytes(b"nonsense")


def no_admin(at: Checkout, tree: Record) -> None:
    shutil.rmtree(tree.admin)


def deep_folders(at: Checkout, tree: Record) -> None:
    (tree.tree / "x/y/z").mkdir(parents=True)


# What was done in the tree -> what the reason to keep it says; nothing: it goes.
CASES: dict[str, tuple[Change, str]] = {
    "untouched": (lambda at, tree: None, GONE),
    "looked at": (git("status"), GONE),
    "empty directories": (deep_folders, GONE),
    "a file touched": (lambda at, tree: (tree.tree / "a.txt").touch(), GONE),
    "a file rewritten as it was": (put("a.txt", "one\n"), GONE),
    "index refreshed": (git("update-index", "--refresh"), GONE),
    "a branch made and left": (
        all_of(git("switch", "-qc", "x"), git("switch", "-q", "worktree/t")), GONE
    ),
    "gc": (git("gc", "-q"), GONE),
    "untracked": (put("new.txt"), "untracked: new.txt"),
    "untracked in a folder": (put("x/y/new.txt"), "untracked: x/y/new.txt"),
    "untracked, empty": (put("new.txt", ""), "untracked: new.txt"),
    "untracked, old times": (old("new.txt"), "untracked"),
    "untracked, strange name": (put("ein \u00e4 \"q\"\t.txt"), "untracked"),
    "untracked, name with newline": (put("two\nlines"), "untracked"),
    "untracked dot file": (put(".hidden"), "untracked: .hidden"),
    "untracked link": (link_out, "untracked: out"),
    "many untracked": (all_of(*(put(f"n{i}.txt") for i in range(30))), "30 files untracked"),
    "ignored": (put("x.log"), "ignored by git: x.log"),
    "ignored folder": (put("build/out.bin"), "ignored by git: build/out.bin"),
    "ignored, old times": (old("x.log"), "ignored by git"),
    "ignored by a new rule": (
        all_of(put(".git-info", ""), put("sub/.gitignore", "*\n"), put("sub/k.txt")), "files"
    ),
    "excluded for the whole repository": (
        lambda at, tree: (
            (at.root / ".git/info/exclude").write_text("secret.txt\n", encoding="utf-8"),
            at.put("secret.txt", "s", tree.tree),
        ),
        "ignored by git: secret.txt",
    ),
    "changed": (put("a.txt", "changed\n"), "changed: a.txt"),
    "changed, same size and times": (same_times, "changed: a.txt"),
    "changed below a folder": (put("sub/b.txt", "x"), "changed: sub/b.txt"),
    "changed, index told not to look": (forged_index, "changed: a.txt"),
    "changed, left out of the index": (
        all_of(put("a.txt", "x"), git("update-index", "--skip-worktree", "a.txt")),
        "changed: a.txt",
    ),
    "made executable": (lambda at, tree: (tree.tree / "a.txt").chmod(0o755), "changed: a.txt"),
    "deleted": (drop("a.txt"), "changed: a.txt"),
    "deleted and staged": (git("rm", "-q", "a.txt"), "staged: a.txt"),
    "renamed": (git("mv", "a.txt", "z.txt"), "staged"),
    "staged": (all_of(put("a.txt", "x\n"), git("add", ".")), "staged: a.txt"),
    "staged, then put back": (
        all_of(put("a.txt", "x\n"), git("add", "."), put("a.txt", "one\n")), "staged: a.txt"
    ),
    "staged new, then deleted": (
        all_of(put("new.txt"), git("add", "."), drop("new.txt")), "staged: new.txt"
    ),
    "meant to be added": (all_of(put("new.txt"), git("add", "-N", "new.txt")), "new.txt"),
    "a file is a link now": (
        all_of(drop("a.txt"), lambda at, tree: (tree.tree / "a.txt").symlink_to("sub/b.txt")),
        "changed: a.txt",
    ),
    "a folder is a link out": (link_for_folder, "sub"),
    "committed": (commit(), "1 commit"),
    "two commits": (all_of(commit(), git("commit", "-q", "--allow-empty", "-m", "b")), "2 commits"),
    "an empty commit": (git("commit", "-q", "--allow-empty", "-m", "e"), "1 commit"),
    "committed and reset back": (reset_back, "other commits"),
    "amended": (git("commit", "-q", "--amend", "-m", "other"), "commit"),
    "stash": (all_of(put("a.txt", "x"), git("stash", "-q")), "stashed"),
    "stash with words": (
        all_of(put("a.txt", "x"), git("stash", "push", "-qm", "later")), "stashed"
    ),
    "stash of a person elsewhere": (
        lambda at, tree: (at.put("a.txt", "x"), at.git("stash", "-q")), GONE
    ),
    "detached": (git("checkout", "-q", "--detach"), "not on worktree/t"),
    "on another branch": (git("switch", "-qc", "mine"), "not on worktree/t"),
    "branch deleted": (
        lambda at, tree: (at.root / ".git/refs/heads/worktree/t").unlink(), "is gone"
    ),
    "rebase in progress": (rebase, "rebase is in progress"),
    "merge with a conflict": (conflict, "merge is in progress"),
    "bisection": (git("bisect", "start"), "bisection is in progress"),
    "a repository inside": (nested("inner"), "untracked: inner/"),
    "a repository inside what is ignored": (nested("build/inner"), "ignored by git"),
    "a submodule": (submodule, "submodules of its own"),
    "a pipe": (pipe, "appeared|not empty|could not be removed"),
    "another directory of that name": (swapped, "not the directory that was made"),
    "a link in its place": (linked_away, "not the directory that was made"),
    "its .git points elsewhere": (repointed, "not a separate checkout"),
    "its .git is gone": (drop(".git"), "not a separate checkout"),
    "git forgot it": (no_admin, "not a separate checkout|looked through"),
    "index broken": (broken_index, "looked through"),
}  # fmt: skip


def test_there_are_sixty_of_them() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
async def test_no_byte_is_lost(tmp_path: Path, name: str) -> None:
    at = Checkout(tmp_path)
    tree = await at.tree()
    change, why = CASES[name]
    change(at, tree)
    before = at.state()
    bytes_there = hashed(tree.tree.resolve()) if why else None
    left = await at.trees.remove(tree)
    assert at.state() == before, "the person's checkout is not the same"
    if why == GONE:
        assert left.kept == "" and not os.path.lexists(tree.path)
        assert "worktree/t" not in at.git("branch", "-a") and not tree.admin.exists()
        assert at.git("worktree", "list").count("\n") == 1
        return
    assert any(word in left.kept for word in why.split("|")), left.kept
    assert hashed(tree.tree.resolve()) == bytes_there
    assert not removing.leaving(tree).exists()


async def test_git_that_fails_removes_nothing(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    tree = await at.tree()
    before = hashed(tree.tree)
    broken = at.root.parent / "bin"
    at.put("bin/git", "#!/bin/sh\nexit 1\n", at.root.parent).chmod(0o755)
    book = at.book(caller=Caller({"PATH": str(broken), "HOME": "/nonexistent"}))
    left = await book.remove(tree)
    assert "looked through" in left.kept and hashed(tree.tree) == before
    missing = at.book(caller=Caller({"PATH": "/nonexistent", "HOME": "/nonexistent"}))
    assert "looked through" in (await missing.remove(tree)).kept


@pytest.mark.parametrize("command", ["diff", "read-tree", "status", "for-each-ref", "ls-files"])
@pytest.mark.parametrize("time", [1, 2])
async def test_any_command_of_git_may_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, time: int
) -> None:
    at = Checkout(tmp_path)
    tree = await at.tree()
    before, real, seen = hashed(tree.tree), Git.run, list[str]()

    def failing(self: Git, given: str, *arguments: str, **more: object) -> bytes:
        seen.append(given)
        if given == command and seen.count(command) == time:
            raise OSError(28, "No space left on device")
        return real(self, given, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "run", failing)
    left = await at.trees.remove(tree)
    assert left.kept and hashed(tree.tree) == before


async def test_what_appears_in_between_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two looks, and after the second one."""
    for moment, name in enumerate(("after the first look", "after the second look")):
        (folder := tmp_path / name).mkdir()
        at = Checkout(folder)
        tree = await at.tree()
        looks = list[Path]()
        real: Check = checking.check

        def check(
            record: Record, where: Path, *more: object, looks: list[Path] = looks,
            at: Checkout = at, moment: int = moment, real: Check = real,
        ) -> Held:  # fmt: skip
            held = real(record, where, *more)
            looks.append(where)
            if len(looks) == moment + 1:
                at.put("sub/late.txt", "late\n", where)
            return held

        monkeypatch.setattr(removing, "check", check)
        left = await at.trees.remove(tree)
        monkeypatch.setattr(removing, "check", real)
        assert left.kept and (tree.tree / "sub/late.txt").read_text(encoding="utf-8") == "late\n"
        assert (tree.tree / "a.txt").read_text(encoding="utf-8") == "one\n"
        assert at.git("status", "--porcelain", root=tree.tree) == "?? sub/late.txt\n"


async def test_somebody_inside_keeps_it(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    tree = await at.tree()
    argv, folder = ["/bin/cat"], tree.tree / "sub"
    with subprocess.Popen(argv, cwd=folder, stdin=subprocess.PIPE) as sitting:  # noqa: ASYNC220
        left = await at.trees.remove(tree)
        assert f"process {sitting.pid} works in it" in left.kept
    assert (await at.trees.remove(tree)).kept == ""


async def test_one_that_another_process_holds_stays(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    tree = await at.tree()
    held = replace(tree, owner=Lifetime(1, ""))
    assert "process 1 works in it" in (await at.trees.remove(held)).kept


async def test_one_without_a_record_is_foreign(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    at.git("worktree", "add", "-q", ".gatewright/worktrees/own")
    assert list(at.trees.records.all()) == [] and at.trees.sweep(0) == []
    assert (at.root / ".gatewright/worktrees/own/a.txt").exists()


async def test_what_the_person_agrees_to_lose_is_lost_and_no_more(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    tree = await at.tree()
    commit()(at, tree)
    at.put("new.txt", "new\n", tree.tree)
    held = await at.trees.check(tree)
    assert [loss.split(":")[0] for loss in held.losses] == ["1 commit", "1 file untracked"]
    at.put("late.txt", "late\n", tree.tree)
    left = await at.trees.remove(tree, held.losses)
    assert "late.txt" in left.kept and (tree.tree / "new.txt").exists()
    held, before = await at.trees.check(tree), at.state()
    assert (await at.trees.remove(tree, held.losses)).kept == ""
    assert "worktree/t" not in at.git("branch", "-a") and at.state() == before


async def test_a_removal_that_was_cut_off_is_gone_on_with(tmp_path: Path) -> None:
    """As `kill -9` leaves it: moved away, and half of its files gone."""
    at = Checkout(tmp_path)
    tree = await at.tree()
    at.trees.let_go(tree)
    tree.tree.rename(away := removing.leaving(tree))
    (away / "a.txt").unlink()
    (away / ".git").unlink()
    assert at.book("s2").sweep(0) == [tree.path]
    assert not os.path.lexists(tree.path) and not away.exists()


async def test_a_sweep_leaves_what_holds_work(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    clean, work, used = await at.tree("clean"), await at.tree("work"), await at.tree("used")
    at.put("new.txt", "new\n", work.tree)
    for each in (clean, work):
        at.trees.let_go(each)
    other = at.book("s2")
    assert other.sweep(1) == []
    assert other.sweep(0) == [clean.path]
    assert work.tree.exists() and used.tree.exists()
    states = {record.slug: state for record, state in other.listed()}
    assert states["work"].startswith("1 file untracked") and "in use" in states["used"]
    assert set(states) == {"work", "used"} and ENV
