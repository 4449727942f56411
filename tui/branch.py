"""The git branch of a folder, read from its files: no process, nothing before the first frame."""

from __future__ import annotations

from pathlib import Path

MAX_UP = 40


def branch_of(folder: Path) -> str:
    """The branch's name, a short commit when detached, or nothing."""
    for place in [folder, *folder.parents][:MAX_UP]:
        git = place / ".git"
        try:
            if git.is_file():
                target = git.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
                git = (place / target).resolve()
            if git.is_dir():
                head = (git / "HEAD").read_text(encoding="utf-8").strip()
                return (
                    head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:9]
                )
        except OSError:
            return ""
    return ""
