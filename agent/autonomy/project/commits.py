"""One commit for each feature, on a branch of the project: by the one safe way to run git.

Nothing is checked out and nothing thrown away: a branch begins where HEAD is, and a commit holds
what the work tree holds. What was done and not committed when a process died is committed first.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gatewright.agent.autonomy.project.features import (
    Feature,
    FeatureList,
    ProjectError,
    read_list,
)
from gatewright.agent.autonomy.project.project_file import FILE
from gatewright.agent.worktrees.checking import UNDER_WAY
from gatewright.tools.system.git import Caller, Git, Stop, git_of
from gatewright.tools.system.gitfiles import (
    Repository,
    committer,
    filtering,
    own_settings,
    repository_of,
    settings_of,
)
from gatewright.tools.system.project import FOLDER

SHORT: Final = 15.0
LONG: Final = 120.0
NAMED: Final = 5  # paths in a sentence
SUBJECT, BODY = 72, 2_000  # characters of a message
EMAIL = 200
OURS: Final = "Gatewright"
NO_EMAIL: Final = "gatewright@localhost"
_LIST: Final = os.fsencode(FILE)
_OWN: Final = os.fsencode(f"{FOLDER}/")


class Ready(msgspec.Struct, frozen=True):
    """`why` there will be no commits, `left` is what the process before had not committed."""

    why: str = ""
    branch: str = ""
    left: str = ""


class Commits:
    """Of one run. Everything blocks: it is called in a thread."""

    def __init__(self, caller: Caller, root: Path, branch: str, stop: Stop | None = None) -> None:
        self._caller, self._root = caller, root
        self._ref, self.branch = f"refs/heads/{branch}", branch
        self._stop = stop or Stop()
        self.off = ""  # why nothing is committed here

    def begin(self, listed: FeatureList) -> Ready:
        """HEAD is on the branch, and all that lies uncommitted belongs to what is to be done next.

        Raises ProjectError that says what the person has to do first.
        """
        found = repository_of(self._root)
        if self._unfit(found) or found is None:
            return Ready(self.off)
        with self._git(found) as git:
            self._settled(found, git)
            if found.ref != self._ref:
                self._clean(git, "begin on a branch of its own")
                self._switch(found, git)
                return Ready(branch=self.branch)
            left = self._uncommitted(listed, git)
            if left is None and not any(each.state == "doing" for each in listed.features):
                self._clean(git, f"go on on {self.branch}")
        if left is None:
            return Ready(branch=self.branch)
        return Ready(branch=self.branch, left=f"{left.id} ({self.commit(left) or 'no change'})")

    def commit(self, feature: Feature) -> str:
        """What the work tree holds, as this feature's; its short name, empty for no change.

        Raises ProjectError.
        """
        if self.off:
            return ""
        found = repository_of(self._root)
        if found is None or found.ref != self._ref:
            at = (found.branch if found is not None else "") or "nothing"
            raise ProjectError(
                f"HEAD is on {at} and not on {self.branch} any more: {feature.id} is not committed."
                f" `git switch {self.branch}`, then /project auto goes on."
            )
        with self._git(found) as git:
            self._settled(found, git)
            head = _head(git)
            names = [*_changed(git), _LIST]
            git.run("update-index", "-z", "--add", "--remove", "--stdin", seconds=LONG,
                    input=b"".join(name + b"\0" for name in names))  # fmt: skip
            tree = _text(git, "write-tree")
            if head and tree == _text(git, "rev-parse", f"{head}^{{tree}}"):
                return ""
            made = self._made(found, git, feature, tree, head)
            with _index(found, git):
                git.run("update-ref", self._ref, made, head or "0" * len(made), seconds=SHORT)
        return made[:9]

    # what has to be so

    def _unfit(self, found: Repository | None) -> str:
        if found is None or found.root != self._root:
            self.off = f"{self._root} is not the top of a git checkout"
        elif filtering(found, self._caller.env):
            self.off = "this repository keeps files in another form (a filter), which is not run"
        return self.off

    @contextlib.contextmanager
    def _git(self, found: Repository) -> Generator[Git]:
        try:
            with git_of(self._caller, found, self._root, self._stop, (found.common,)) as git:
                yield git
        except OSError as error:
            raise ProjectError(f"git does not work here: {error}") from None

    def _settled(self, found: Repository, git: Git) -> None:
        for name, what in UNDER_WAY.items():
            if os.path.lexists(found.git / name):
                raise ProjectError(f"Here {what} is in progress: finish or abort it first.")
        if git.run("ls-files", "--unmerged", "-z", seconds=LONG):
            raise ProjectError("Files here have conflicts: resolve and commit them first.")

    def _clean(self, git: Git, wish: str) -> None:
        """Raises ProjectError: what is not committed would become part of a feature."""
        if names := [os.fsdecode(name) for name in _changed(git) if name != _LIST]:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            raise ProjectError(
                f"There are changes that are not committed ({', '.join(names[:NAMED])}{more}): "
                f"commit or stash them to {wish}, or they would become part of a feature."
            )

    def _switch(self, found: Repository, git: Git) -> None:
        """To the branch, where that changes no file: it is new, or already here."""
        head = _head(git)
        tip = _text(git, "for-each-ref", "--format=%(objectname)", self._ref)
        if tip and tip != head:
            raise ProjectError(
                f"The branch {self.branch} is there already and holds other commits: "
                f"`git switch {self.branch}` first, or delete it if it is not needed."
            )
        try:
            if head and not tip:
                git.run("update-ref", self._ref, head, "0" * len(head), seconds=SHORT)
        except TimeoutError:
            raise
        except OSError as error:
            raise ProjectError(f"The branch {self.branch} could not be begun: {error}") from None
        with _locked(found.git / "HEAD") as fresh:
            os.write(fresh, f"ref: {self._ref}\n".encode())

    def _uncommitted(self, listed: FeatureList, git: Git) -> Feature | None:
        """A feature that is over on the disk and not in HEAD: what lies here belongs to it."""
        try:
            text = git.run("cat-file", "blob", f"HEAD:{FILE.as_posix()}", seconds=SHORT)
            kept = {each.id: each.state for each in read_list(text).features}
        except (OSError, ProjectError):  # no commit holds it yet
            kept = {}
        news = [each for each in listed.features if each.over and kept.get(each.id) != each.state]
        return news[-1] if news else None

    def _made(self, found: Repository, git: Git, feature: Feature, tree: str, head: str) -> str:
        name = committer(found, self._caller.env) or OURS
        own, here = own_settings(self._caller.env), settings_of(found.common / "config")
        email = here.get("user.email", "") or own.get("user.email", "")
        who = (
            f"{_plain(name) or OURS} <{_plain(email)[:EMAIL] or NO_EMAIL}> {int(time.time())} +0000"
        )
        lines = [f"tree {tree}", *([f"parent {head}"] if head else [])]
        lines += [f"author {who}", f"committer {who}", "", *_message(feature)]
        text = ("\n".join(lines) + "\n").encode("utf-8", "replace")
        return _text(git, "hash-object", "-t", "commit", "-w", "--stdin", input=text)


def _message(feature: Feature) -> Sequence[str]:
    title = feature.title[:SUBJECT]
    body = feature.acceptance[:BODY].strip()
    if feature.state == "blocked":
        title = f"Leave blocked: {feature.title}"[:SUBJECT]
        body = feature.note[-BODY:].strip()
    return (title, "", *([body, ""] if body else []), f"Feature: {feature.id}")


def _plain(name: str) -> str:
    return "".join(each for each in name if each.isprintable() and each not in "<>\n").strip()


def _head(git: Git) -> str:
    """The commit that is checked out; empty before the first."""
    try:
        return _text(git, "rev-parse", "--verify", "-q", "HEAD^{commit}")
    except TimeoutError:
        raise
    except OSError:
        return ""


def _changed(git: Git) -> list[bytes]:
    """What differs from HEAD and is no file of ours; a repository within is left alone."""
    listed = git.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all",
                     seconds=LONG)  # fmt: skip
    names = [entry[3:] for entry in listed.split(b"\0") if entry]
    return [n for n in names if not n.endswith(b"/") and (n == _LIST or not n.startswith(_OWN))]


def _text(git: Git, command: str, *arguments: str, input: bytes = b"") -> str:
    return git.run(command, *arguments, seconds=LONG, input=input).decode().strip()


@contextlib.contextmanager
def _locked(file: Path) -> Generator[int]:
    """Its lock, as git takes it: what is written there takes the file's place."""
    lock = file.with_name(f"{file.name}.lock")
    try:
        fresh = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        raise ProjectError(
            f"{lock} is there: another git works here, or one died. Remove it if none does."
        ) from None
    try:
        yield fresh
        lock.rename(file)
    except BaseException:
        with contextlib.suppress(OSError):
            lock.unlink()
        raise
    finally:
        os.close(fresh)


@contextlib.contextmanager
def _index(found: Repository, git: Git) -> Generator[None]:
    """Meanwhile nobody else changes the repository's index; then it is what was committed."""
    with _locked(found.git / "index") as fresh:
        data, at = memoryview(git.index.read_bytes()), 0
        while at < len(data):
            at += os.write(fresh, data[at:])
        yield
