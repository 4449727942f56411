"""Trees of skills for tests: a home, a project, and what stands in them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gatewright.skills.book import Choices, Kept, SkillBook
from gatewright.skills.places import Ground


class Tree:
    """A machine in a directory: `home/.gatewright`, `etc` and a project."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.home, self.managed, self.root = top / "home", top / "etc", top / "project"
        self.root.mkdir(parents=True, exist_ok=True)
        self.ground = Ground(
            managed=self.managed,
            homes=(self.home / ".gatewright", self.home / ".agents", self.home / ".claude"),
            root=self.root,
            cwd=self.root,
            trusted=True,
            built_in=top / "builtin",
        )
        self.choices = Choices()

    def with_ground(self, **changes: Any) -> Tree:
        self.ground = replace(self.ground, **changes)
        return self

    def book(self, kept: Kept | None = None) -> SkillBook:
        return SkillBook(lambda: self.ground, lambda: self.choices, kept)

    def skill(
        self, place: Path | str, name: str, front: str | None = None, body: str = "Do it.\n"
    ) -> Path:
        """`place` is a directory of skills, below the project where it is a text."""
        folder = (self.root / place if isinstance(place, str) else place) / name
        said = f"name: {name}\ndescription: {name} of {folder.parent}" if front is None else front
        return write(folder / "SKILL.md", f"---\n{said}\n---\n\n{body}")

    def command(self, place: Path | str, path: str, text: str = "Run it.\n") -> Path:
        folder = self.root / place if isinstance(place, str) else place
        return write(folder / path, text)


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def settle(*tops: Path) -> None:
    """Wait until nothing of it counts as changed a moment ago."""
    newest = max(
        (max(info.st_mtime_ns, info.st_ctime_ns) for top in tops for info in _stats(top)),
        default=0,
    )
    while time.time_ns() - newest < 60_000_000:
        os.sched_yield()


def _stats(top: Path) -> list[os.stat_result]:
    return [path.stat() for path in (top, *top.rglob("*")) if path.exists()]
