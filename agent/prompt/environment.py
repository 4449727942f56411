"""What the model is told about the machine: read once when a session opens, and after a clear."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import msgspec

from gatewright.agent.history.gitrun import git_env, run_git

HEAD_LIMIT = 4096
STATUS_LIMIT = 2_000
GIT_TIME = 1.0  # seconds: a huge repository is described without its status
QUESTIONS: Mapping[str, Sequence[str]] = {
    "status": ("status", "--porcelain=v1", "--branch", "--untracked-files=normal"),
    "log": ("log", "-n", "5", "--no-show-signature", "--format=%h %s"),
    "default": ("symbolic-ref", "--short", "refs/remotes/origin/HEAD"),
    "user": ("config", "--get", "user.name"),
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


def look_around(cwd: Path, root: Path, env: Mapping[str, str], date: str) -> Environment:
    return Environment(
        cwd=cwd,
        root=root,
        date=date,
        shell=Path(env.get("SHELL", "/bin/bash")).name,
        system=f"{platform.system()} {platform.release()}".strip(),
        branch=git_branch(root),
        repository=ask_git(root, env),
    )


def ask_git(root: Path, env: Mapping[str, str]) -> Repository:
    """All questions at once; together they take as long as the slowest."""
    if not (root / ".git").exists():
        return Repository()
    questions = dict(QUESTIONS)
    deadline = time.monotonic() + GIT_TIME
    # The work tree is named, or the repository's configuration could have another one described.
    own = git_env(env, {"GIT_CEILING_DIRECTORIES": str(root.parent), "GIT_WORK_TREE": str(root)})

    def ask(arguments: Sequence[str]) -> str:
        left = deadline - time.monotonic()
        try:
            out = run_git(arguments, cwd=root, env=own, limit=max(0.05, left))
        except OSError:  # no such ref, no commit yet, git is missing, or it takes too long
            return ""
        return out.decode("utf-8", errors="replace").strip("\n")

    if _has_filters(root, own):  # `git status` would run them
        del questions["status"]
    with ThreadPoolExecutor(len(QUESTIONS)) as pool:
        answers = dict(zip(questions, pool.map(ask, questions.values()), strict=True))
    return Repository(**answers)


def _has_filters(root: Path, env: Mapping[str, str]) -> bool:
    """Whether the repository itself names programs that git would run on its files."""
    asked = ("--includes", "--name-only", "--get-regexp", r"^filter\.")
    for scope in ("--local", "--worktree"):
        with suppress(OSError):  # exit code 1: there is none
            if run_git(("config", scope, *asked), cwd=root, env=env, limit=GIT_TIME).strip():
                return True
    return False


def git_branch(root: Path) -> str:
    """The checked-out branch, read from the files: it costs no process."""
    try:
        folder = root / ".git"
        if folder.is_file():
            folder = root / folder.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        with (folder / "HEAD").open(encoding="utf-8") as file:
            head = file.read(HEAD_LIMIT).strip()
    except (OSError, ValueError):
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:12]


def _cut(text: str) -> str:
    if len(text) <= STATUS_LIMIT:
        return text
    kept = text[:STATUS_LIMIT].rsplit("\n", 1)[0]
    left = text.count("\n") - kept.count("\n")
    return f"{kept}\n({left} more; run git status to see them)"


def today() -> str:
    return time.strftime("%Y-%m-%d")
