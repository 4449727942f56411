"""Makes a work tree with our own git: nothing of the repository runs, and no file of the person's
checkout changes. What fails half way is taken away again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import msgspec

from gatewright.agent.worktrees.included import Bringing, bring
from gatewright.agent.worktrees.names import FOLDER, WorktreeError, branch_of
from gatewright.agent.worktrees.record import Record
from gatewright.tools.system.exact import open_directory
from gatewright.tools.system.git import Caller, Git, Stop, git_of
from gatewright.tools.system.gitfiles import Repository, repository_of, text_of
from gatewright.tools.system.lifetimes import Lifetime, ours

TIME: Final = 600.0  # of a checkout, however large
SHORT: Final = 15.0


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Where a tree is made from: the checkout it stands beside, and whose HEAD is its base."""

    root: Path
    caller: Caller
    bringing: Bringing = Bringing()
    owner: Lifetime = msgspec.field(default_factory=ours)
    agent: str = ""
    session: str = ""


def repository(root: Path) -> Repository:
    """The one a checkout belongs to. Raises WorktreeError where there is none to be used."""
    found = repository_of(root)
    if found is None or found.root != root:
        raise WorktreeError(
            f"{root} is not the top of a git checkout, so no work tree can be made. "
            "`git init` there and commit, or work without one."
        )
    return found


def head_of(git: Git) -> str:
    """The commit a checkout is at. Raises WorktreeError before the first one."""
    try:
        return (
            git.run("rev-parse", "--verify", "-q", "HEAD^{commit}", seconds=SHORT).decode().strip()
        )
    except TimeoutError:
        raise
    except OSError:
        raise WorktreeError("There is no commit yet that a work tree could begin with.") from None


def place(root: Path, slug: str) -> Path:
    """Where a tree of that name belongs. No part of the path may be a link."""
    tree = root / FOLDER / slug
    for path in (root, root / FOLDER.parts[0], root / FOLDER, tree):
        if path.is_symlink():
            raise WorktreeError(f"{path} is a link: a work tree is not made behind one.")
    return tree


def made(
    ground: Ground, slug: str, base: str, stop: Stop | None = None
) -> tuple[Record, tuple[str, ...]]:
    """The tree, checked out at `base`, and what of its extras it lacks.

    Raises WorktreeError or OSError; nothing is left then.
    """
    if FOLDER.parts[-1] in ground.root.parts and FOLDER.parts[0] in ground.root.parts:
        raise WorktreeError(f"{ground.root} is a work tree itself; they are never nested.")
    found, tree = repository(ground.root), place(ground.root, slug)
    branch, admin = branch_of(slug), found.common / "worktrees" / slug
    _free(tree, admin, found, branch)
    excluded(found.common)
    began = time.time()
    with contextlib.ExitStack() as undo:
        inode = _directory(tree)
        undo.callback(shutil.rmtree, tree, ignore_errors=True)
        admin.parent.mkdir(exist_ok=True)
        admin.mkdir()
        undo.callback(shutil.rmtree, admin, ignore_errors=True)
        _linked(admin, tree, base, ground.owner)
        at = Repository(tree, admin, found.common, "", base)
        with git_of(ground.caller, at, tree, stop, (tree, found.common)) as git:
            git.run("read-tree", base, seconds=TIME)
            sparse = _sparse(git, ground.bringing.sparse)
            git.run("checkout-index", "-a", "-u", seconds=TIME)
            _keep_index(git.index, admin / "index")
            record = Record(
                slug=slug, path=str(tree), root=str(ground.root), common=str(found.common),
                branch=branch, base=base, made=began, inode=inode, owner=ground.owner,
                agent=ground.agent, session=ground.session, used=began, sparse=sparse,
            )  # fmt: skip
            record, notes = bring(ground.bringing, record, ground.caller, stop)
            _begin_branch(git, record)
        undo.pop_all()
    return record, notes


def _begin_branch(git: Git, record: Record) -> None:
    """New, or an error: a branch that is there is somebody's work."""
    try:
        nothing = "0" * len(record.base)
        git.run("update-ref", record.branch, record.base, nothing, seconds=SHORT)
    except OSError as error:
        raise WorktreeError(
            f"The branch {record.short} could not be begun ({error}). Choose another name, or "
            f"`git branch -d {record.short}` if it is not needed."
        ) from error
    try:
        _write(record.admin / "HEAD", f"ref: {record.branch}\n")
    except OSError:
        git.run("update-ref", "-d", record.branch, record.base, seconds=SHORT)
        raise


def _free(tree: Path, admin: Path, found: Repository, branch: str) -> None:
    if os.path.lexists(tree) or os.path.lexists(admin):
        raise WorktreeError(f"There is a work tree {tree.name} already, which is not ours to use.")
    if admin.parent.is_symlink():
        raise WorktreeError(f"{admin.parent} is a link: no work tree is made behind one.")
    at = found.common
    for part in Path(branch).parts[:-1]:
        at = at / part
        if at.is_symlink():
            raise WorktreeError(f"{at} is a link: no branch is made behind one.")


def _directory(tree: Path) -> tuple[int, int]:
    """Made new, with no link followed on the way."""
    above = open_directory(tree.parent, make=True)
    try:
        os.mkdir(tree.name, dir_fd=above)
        info = os.stat(tree.name, dir_fd=above, follow_symlinks=False)
    finally:
        os.close(above)
    return info.st_dev, info.st_ino


def _linked(admin: Path, tree: Path, base: str, owner: Lifetime) -> None:
    """What git keeps of a linked work tree, locked from the first moment. Its HEAD names the commit
    until there is a branch: a crash in between leaves nothing that git would call broken.
    """
    lock(admin, owner)
    _write(admin / "commondir", "../..\n")
    _write(admin / "gitdir", f"{tree}/.git\n")
    _write(admin / "HEAD", f"{base}\n")
    _write(tree / ".git", f"gitdir: {admin}\n")


def lock(admin: Path, owner: Lifetime) -> None:
    """Git leaves a locked tree alone; the text says who works in it."""
    _write(admin / "locked", f"Gatewright works here: pid {owner.pid}, start {owner.start}\n")


def unlock(admin: Path) -> None:
    (admin / "locked").unlink(missing_ok=True)


def _write(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def _keep_index(own: Path, index: Path) -> None:
    """Git's times in it are those of the files: nothing is read again."""
    info = own.stat()
    shutil.copyfile(own, index)
    os.utime(index, ns=(info.st_atime_ns, info.st_mtime_ns))


def _sparse(git: Git, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out what is neither in one of the wanted directories nor at the top."""
    paths = tuple(path.strip("/") for path in wanted if path.strip("/"))
    if not paths:
        return ()
    heads = tuple(os.fsencode(path) for path in paths)
    listed = git.run("ls-files", "-z", seconds=TIME).split(b"\0")
    left = [name for name in listed if name and not _within(name, heads)]
    if left:
        names = b"".join(name + b"\0" for name in left)
        git.run("update-index", "-z", "--skip-worktree", "--stdin", seconds=TIME, input=names)
    return paths


def _within(name: bytes, heads: tuple[bytes, ...]) -> bool:
    return b"/" not in name or any(name == head or name.startswith(head + b"/") for head in heads)


def excluded(common: Path) -> None:
    """Git does not list our directory: one line in the repository's own exclude file."""
    line, file = f"/{FOLDER.as_posix()}/", common / "info" / "exclude"
    if line in text_of(file).splitlines() or file.is_symlink() or file.parent.is_symlink():
        return
    file.parent.mkdir(exist_ok=True)
    with file.open("a+b") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            return
        opened.seek(0)
        before = opened.read()
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        opened.write(gap + line.encode() + b"\n")


@contextlib.contextmanager
def looking(record: Record, tree: Path, caller: Caller, stop: Stop | None) -> Generator[Git]:
    """Git over a tree of ours, wherever it stands now, with an index that was read anew."""
    at = Repository(tree, record.admin, Path(record.common), "", record.base)
    with git_of(caller, at, tree, stop, (tree,)) as git:
        yield git
