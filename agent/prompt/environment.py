"""What the model is told about the machine: read once when a session opens, and after a clear."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path

import msgspec

HEAD_LIMIT = 4096


class Environment(msgspec.Struct, frozen=True):
    cwd: Path
    root: Path
    date: str
    shell: str
    system: str
    branch: str

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
        return "\n".join(lines) + "\n"


def look_around(cwd: Path, root: Path, env: Mapping[str, str], date: str) -> Environment:
    return Environment(
        cwd=cwd,
        root=root,
        date=date,
        shell=Path(env.get("SHELL", "/bin/bash")).name,
        system=f"{platform.system()} {platform.release()}".strip(),
        branch=git_branch(root),
    )


def git_branch(root: Path) -> str:
    """The checked-out branch, read from the files: starting git would let its config run things."""
    try:
        folder = root / ".git"
        if folder.is_file():
            folder = root / folder.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        with (folder / "HEAD").open(encoding="utf-8") as file:
            head = file.read(HEAD_LIMIT).strip()
    except (OSError, ValueError):
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:12]
