"""What the model is told about the machine: read once when a session opens, and after a clear."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from gatewright.tools.system.git import Caller, Git, git_in
from gatewright.tools.system.gitfiles import committer, repository_of

STATUS_LIMIT = 2_000
MOST = 16 * 1024 * 1024  # bytes of an answer
GIT_TIME = 1.0  # seconds: a huge repository is described without its status
QUESTIONS: Mapping[str, Sequence[str]] = {
    "status": ("status", "--porcelain=v1", "--branch", "--untracked-files=normal"),
    "log": ("log", "-n", "5", "--format=%h %s"),
    "default": ("symbolic-ref", "--short", "refs/remotes/origin/HEAD"),
    "stash": ("rev-list", "--count", "--walk-reflogs", "refs/stash"),
}


class Repository(msgspec.Struct, frozen=True):
    """What git says, each empty where it did not."""

    status: str = ""
    log: str = ""
    default: str = ""
    user: str = ""
    stash: str = ""


class Environment(msgspec.Struct, frozen=True):
    cwd: Path
    root: Path
    date: str
    shell: str
    system: str
    branch: str
    repository: Repository = Repository()

    def section(self) -> str:
        lines = [
            "# Environment",
            "",
            f"- Working directory: {self.cwd}",
            f"- Platform: {self.system}; commands run in {self.shell}",
            f"- Date: {self.date}",
        ]
        if self.root != self.cwd:
            lines.append(f"- Project root: {self.root}")
        if self.branch:
            lines.append(f"- Git branch: {self.branch}")
        return "\n".join(lines) + "\n" + self._git()

    def _git(self) -> str:
        found = self.repository
        lines: list[str] = []
        if found.default:
            lines.append(f"- Default branch: {found.default.removeprefix('origin/')}")
        if found.user:
            lines.append(f"- Commits are made as: {found.user}")
        if found.stash:
            lines.append(f"- Stashed changes: {found.stash}")
        text = "".join(f"{line}\n" for line in lines)
        changes = "\n".join(found.status.splitlines()[1:])
        if found.status:
            text += f"\nGit status when this conversation began:\n{_cut(changes) or '(clean)'}\n"
        if found.log:
            text += f"\nNewest commits:\n{found.log}\n"
        return text


def look_around(cwd: Path, root: Path, caller: Caller, date: str) -> Environment:
    env = caller.env
    return Environment(
        cwd=cwd,
        root=root,
        date=date,
        shell=Path(env.get("SHELL", "/bin/bash")).name,
        system=f"{platform.system()} {platform.release()}".strip(),
        branch=git_branch(root),
        repository=ask_git(root, caller),
    )


def ask_git(root: Path, caller: Caller) -> Repository:
    """All questions at once; together they take as long as the slowest."""
    found = repository_of(root)
    if found is None or found.root != root:
        return Repository()
    try:
        with git_in(caller, root) as git:
            answers = _answers(git)
    except OSError:  # git is missing, or nothing of the repository can be read
        answers = {}
    return Repository(**answers, user=committer(found, caller.env))


def _answers(git: Git) -> dict[str, str]:
    deadline = time.monotonic() + GIT_TIME

    def ask(arguments: Sequence[str]) -> str:
        try:
            out = git.run(*arguments, seconds=max(0.05, deadline - time.monotonic()), most=MOST)
        except OSError:  # no such ref, no commit yet, or it takes too long
            return ""
        return out.decode("utf-8", errors="replace").strip("\n")

    with ThreadPoolExecutor(len(QUESTIONS)) as pool:
        return dict(zip(QUESTIONS, pool.map(ask, QUESTIONS.values()), strict=True))


def git_branch(root: Path) -> str:
    """The checked-out branch, read from the files: it costs no process."""
    found = repository_of(root)
    return found.branch if found is not None and found.root == root else ""


def _cut(text: str) -> str:
    if len(text) <= STATUS_LIMIT:
        return text
    kept = text[:STATUS_LIMIT].rsplit("\n", 1)[0]
    left = text.count("\n") - kept.count("\n")
    return f"{kept}\n({left} more; run git status to see them)"


def today() -> str:
    return time.strftime("%Y-%m-%d")
