"""One commit for each feature, on a branch of the project: by the one safe way to run git.

Nothing is checked out and nothing thrown away: a branch begins where HEAD is, and a commit holds
what the work tree holds. What was done and not committed when a process died is committed first.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gatewright.agent.autonomy.project.features import (
    Feature,
    FeatureList,
    ProjectError,
    State,
    read_list,
)
from gatewright.agent.autonomy.project.project_file import FILE
from gatewright.agent.worktrees.checking import UNDER_WAY
from gatewright.tools.system.git import Caller, Git, Stop, git_of
from gatewright.tools.system.gitfiles import (
    IGNORES,
    Repository,
    committer,
    filtering,
    names_back,
    own_settings,
    repository_of,
    settings_of,
)
from gatewright.tools.system.patterns import later
from gatewright.tools.system.project import FOLDER
from gatewright.tools.system.regular import read_regular
from gatewright.tools.system.secrets import secret_file

SHORT: Final = 15.0
LONG: Final = 120.0
NAMED: Final = 5  # paths in a sentence
SUBJECT, BODY = 72, 2_000  # characters of a message
EMAIL = 200
OURS: Final = "Gatewright"
NO_EMAIL: Final = "gatewright@localhost"
_LIST: Final = os.fsencode(FILE)
_OWN: Final = os.fsencode(f"{FOLDER}/")
_FILTERED: Final = later(rb"^[^#\n]*\sfilter\s*=", re.MULTILINE)
FILTER: Final = "this repository keeps files in another form (a filter), which is not run"


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
        self._common: Path | None = None  # of the repository that it began in
        self._ignored: frozenset[bytes] = frozenset()  # when it began, directories with their /

    def begin(self, listed: FeatureList) -> Ready:
        """HEAD is on the branch, and all that lies uncommitted belongs to what is to be done next.

        Raises ProjectError that says what the person has to do first.
        """
        found = repository_of(self._root)
        if self._unfit(found) or found is None:
            return Ready(self.off)
        self._common = found.common
        with self._git(found) as git:
            self._settled(found, git)
            if self._filtered(git):
                self.off = FILTER
                return Ready(self.off)
            self._ignored = _ignored(git)
            if found.ref != self._ref:
                self._clean(git, "begin on a branch of its own")
                self._switch(found, git)
                return Ready(branch=self.branch)
            kept = self._kept(git)
            news = [each for each in listed.features if kept.get(each.id) != each.state]
            left = next((each for each in reversed(news) if each.over), None)
            if left is None and not any(each.state == "doing" for each in news):
                self._clean(git, f"go on on {self.branch}")
        if left is None:
            return Ready(branch=self.branch)
        return Ready(branch=self.branch, left=f"{left.id} ({self.commit(left) or 'no change'})")

    def commit(self, feature: Feature) -> str:
        """What the work tree holds, as this feature's; its short name, empty for no change.

        New files that may hold a secret, or were ignored when the run began, stay out of it,
        which is said behind the name. Raises ProjectError.
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
        if found.common != self._common or not names_back(found):
            raise ProjectError(
                f"{self._root}/.git is another one now: {feature.id} is not committed."
            )
        with self._git(found) as git:
            self._settled(found, git)
            if self._filtered(git):
                raise ProjectError(f"{feature.id} is done and not committed: {FILTER}.")
            head, changed = _head(git), _changed(git)
            out = self._taken(git, changed)
            _put(git, [_LIST], "--add", "--remove")
            tree = _text(git, "write-tree")
            if head and tree == _text(git, "rev-parse", f"{head}^{{tree}}"):
                return ""
            made = self._made(found, git, feature, tree, head)
            with _index(found, git):
                git.run("update-ref", self._ref, made, head or "0" * len(made), seconds=SHORT)
        return f"{made[:9]}{f', without {_some(out)}' if out else ''}"

    def state(self) -> str:
        """What a commit would hold now, but for the list; empty where there are none.

        Raises ProjectError.
        """
        found = repository_of(self._root)
        if self.off or found is None or found.common != self._common:
            return ""
        with self._git(found) as git:
            self._taken(git, {n: new for n, new in _changed(git).items() if n != _LIST})
            return _text(git, "write-tree")

    def _taken(self, git: Git, changed: Mapping[bytes, bool]) -> list[bytes]:
        """What changed is in its own index now, but for these."""
        out = [name for name, new in changed.items() if new and self._stays_out(name)]
        _put(git, (name for name in changed if name not in out), "--add", "--remove")
        _put(git, out, "--force-remove")
        return out

    # what has to be so

    def _unfit(self, found: Repository | None) -> str:
        if found is None or found.root != self._root:
            self.off = f"{self._root} is not the top of a git checkout"
        elif not names_back(found):
            self.off = f"{self._root}/.git leads to a repository that does not know of it"
        elif filtering(found, self._caller.env):
            self.off = FILTER
        return self.off

    def _filtered(self, git: Git) -> bool:
        """Whether attributes name one, which may be the person's. What cannot be read counts."""
        listed = git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard",
                         seconds=LONG)  # fmt: skip
        names = {each for each in listed.split(b"\0") if each.endswith(b".gitattributes")}
        assert self._common is not None
        files = [*(self._root / os.fsdecode(name) for name in names)]
        for file in (*files, self._common / "info" / "attributes"):
            try:
                if _FILTERED.search(read_regular(file, IGNORES, follow=False)):
                    return True
            except FileNotFoundError:
                continue
            except OSError:
                return True
        return False

    def _stays_out(self, name: bytes) -> bool:
        parts = name.split(b"/")
        above = (b"/".join(parts[:count]) + b"/" for count in range(1, len(parts)))
        return secret_file(os.fsdecode(parts[-1])) or not self._ignored.isdisjoint((name, *above))

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
        if names := [name for name in _changed(git) if name != _LIST]:
            raise ProjectError(
                f"There are changes that are not committed ({_some(names)}): "
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

    def _kept(self, git: Git) -> Mapping[str, State]:
        """The states of the features in HEAD: what lies here belongs to one that is further."""
        try:
            text = git.run("cat-file", "blob", f"HEAD:{FILE.as_posix()}", seconds=SHORT)
            return {each.id: each.state for each in read_list(text).features}
        except (OSError, ProjectError):  # no commit holds it yet
            return {}

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


def _changed(git: Git) -> dict[bytes, bool]:
    """What differs from HEAD and is no file of ours, and whether HEAD has nothing of it.

    A repository within is left alone.
    """
    listed = git.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all",
                     seconds=LONG)  # fmt: skip
    found = {entry[3:]: entry[:1] in b"?A" or entry[1:2] == b"A"
             for entry in listed.split(b"\0") if entry}  # fmt: skip
    theirs = (n for n in found if not n.endswith(b"/") and (n == _LIST or not n.startswith(_OWN)))
    return {name: found[name] for name in theirs}


def _ignored(git: Git) -> frozenset[bytes]:
    """A directory that is ignored whole stands there alone."""
    listed = git.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory",
                     seconds=LONG)  # fmt: skip
    return frozenset(filter(None, listed.split(b"\0")))


def _put(git: Git, names: Iterable[bytes], *how: str) -> None:
    """Into its own index as they lie here, or out of it."""
    if text := b"".join(name + b"\0" for name in names):
        git.run("update-index", "-z", *how, "--stdin", seconds=LONG, input=text)


def _some(names: Sequence[bytes]) -> str:
    told = ", ".join(os.fsdecode(name) for name in names[:NAMED])
    return f"{told} and {len(names) - NAMED} more" if len(names) > NAMED else told


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
