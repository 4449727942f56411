"""Instruction files: the person's own, then each directory's from the project root down to cwd."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

NAMES = ("AGENTS.md", "CLAUDE.md")
SIZE_LIMIT = 40_000


class MemoryFile(msgspec.Struct, frozen=True):
    path: Path
    text: str
    cut: bool


def memory_files(own_home: Path, root: Path, cwd: Path) -> tuple[MemoryFile, ...]:
    """In the order the model reads them: the nearest comes last."""
    found: list[MemoryFile] = []
    for folder in (own_home, *_from_root(root, cwd)):
        for name in NAMES:
            if file := _read(folder / name):
                found.append(file)
                break  # where both exist they say the same to different agents
    return tuple(found)


def section(files: tuple[MemoryFile, ...]) -> str:
    """The files for the system prompt; an empty string where there are none."""
    if not files:
        return ""
    parts = ["# Instructions from files", ""]
    for file in files:
        note = f" (cut after {SIZE_LIMIT} characters)" if file.cut else ""
        parts.append(f"## {file.path}{note}\n\n{file.text.strip()}\n")
    return "\n".join(parts)


def _from_root(root: Path, cwd: Path) -> Iterator[Path]:
    if not cwd.is_relative_to(root):
        yield cwd
        return
    yield root
    step = root
    for part in cwd.relative_to(root).parts:
        step = step / part
        yield step


def _read(path: Path) -> MemoryFile | None:
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT * 4)
    except OSError:
        return None
    text = data.decode("utf-8", errors="replace")
    if not text.strip():
        return None
    return MemoryFile(path, text[:SIZE_LIMIT], len(text) > SIZE_LIMIT)
