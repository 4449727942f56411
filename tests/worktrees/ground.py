"""A repository to make work trees from, and what must stay as it was."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from gatewright.agent.worktrees.included import Bringing
from gatewright.agent.worktrees.project_trees import Ports, Wishes, Worktrees
from gatewright.agent.worktrees.record import Record
from gatewright.tools.system.git import Caller
from tests.fakes.hostile_git import IDENTITY
from tests.fakes.waiting import PATIENCE

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


class Checkout:
    """The person's checkout with one commit; `trees` are ours beside it."""

    def __init__(self, folder: Path, wishes: Wishes | None = None) -> None:
        self.root = Path(os.path.realpath(folder)) / "project"
        self.home = self.root.parent / "home"
        self.root.mkdir()
        self.wishes = wishes or Wishes(bringing=Bringing(include=True))
        self.git("init", "-q", "-b", "main")
        self.put("a.txt", "one\n")
        self.put("sub/b.txt", "two\n")
        self.put(".gitignore", "*.log\nbuild/\n.env\n")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        self.trees = self.book()

    def book(self, session: str = "s1", caller: Caller | None = None) -> Worktrees:
        asked = caller or Caller(ENV)
        ports = Ports(
            root=self.root,
            folder=self.home / "projects" / "p",
            caller=lambda: asked,
            wishes=lambda: self.wishes,
            session=session,
        )
        return Worktrees(ports)

    def put(self, name: str, text: str, root: Path | None = None) -> Path:
        path = (root or self.root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def git(self, *arguments: str, root: Path | None = None, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=root or self.root, env={**ENV, **IDENTITY}, check=check,
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        return done.stdout

    async def tree(self, name: str = "t") -> Record:
        return (await self.trees.open(name, self.root, "main")).record

    def state(self) -> Mapping[str, str]:
        """Every byte of the checkout, and of what git keeps of it."""
        found = dict(hashed(self.root, skip=(".git", ".gatewright")))
        for name in ("HEAD", "index", "config", "packed-refs", "logs/HEAD", "refs/heads/main"):
            path = self.root / ".git" / name
            lines = path.read_bytes().splitlines() if path.exists() else []
            found[f".git/{name}"] = repr([each for each in lines if b"heads/worktree/" not in each])
        return found


def hashed(root: Path, skip: tuple[str, ...] = ()) -> Mapping[str, str]:
    """Every file below a directory, by name: kind, mode and bytes."""
    found: dict[str, str] = {}
    for folder, names, files in os.walk(root):
        here = Path(folder)
        if here == root:
            names[:] = [name for name in names if name not in skip]
        for name in (*files, *(n for n in names if (here / n).is_symlink())):
            path = here / name
            if path.is_fifo():
                found[str(path.relative_to(root))] = "a pipe"
                continue
            if path.is_symlink():
                found[str(path.relative_to(root))] = f"-> {path.readlink()}"
                continue
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(root))] = f"{path.stat().st_mode:o} {digest}"
    return found
