"""The files of the project for the `@` menu, listed once in the background and cached."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from gatewright.tools.system.programs import find
from gatewright.tools.system.project import here
from gatewright.tui.prompt.match import score
from gatewright.tui.prompt.menu import Choice

MAX_FILES = 100_000
FRESH = 20.0  # seconds a listing is used
LIMIT = 20.0  # seconds the listing may take
SHOWN = 50
SCORED = 3000
RARE = "qzxjkvywbghfpmudclnosirate"  # letters of names of files, the rarest first
SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__", ".mypy_cache", "target"})

_PLAIN = re.compile(r"[^\s\"'<>|]*[^\s\"'<>|.,;:!?)\]}]")  # needs no quotes to be found again


class Files:
    """Paths below a root, relative; directories end with a slash."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths: list[str] = []
        self._low: list[str] = []
        self._listed = 0.0

    @property
    def stale(self) -> bool:
        return time.monotonic() - self._listed > FRESH or not self._listed

    async def refresh(self) -> None:
        """Read the tree again; with ripgrep where there is one, so that ignore files count."""
        self._listed = time.monotonic()
        program = find_rg(self._root)
        paths = await _with_rg(program, self._root) if program else None
        if paths is None:
            paths = await asyncio.to_thread(_walk, self._root)
        folders = {path[: path.rindex("/") + 1] for path in paths if "/" in path}
        self._paths = sorted(folders) + paths
        self._low = [path.lower() for path in self._paths]

    def choices(self, query: str) -> list[Choice]:
        """The best matches; exact parts first, then letters in order."""
        return [Choice(mention(path), path) for path in rank(query, self._paths, self._low)]


def mention(path: str) -> str:
    """The path as a message points at it; a folder is left open, for what is in it."""
    if _PLAIN.fullmatch(path) or '"' in path:
        return f"@{path}"
    return f'@"{path}' if path.endswith("/") else f'@"{path}"'


def rank(query: str, paths: Sequence[str], low: Sequence[str]) -> list[str]:
    """Paths that fit, best first. Cheap tests first: a large tree must not be felt."""
    wanted = query.lower()
    if not wanted:
        return list(paths[:SHOWN])
    found = [n for n, path in enumerate(low) if wanted in path]
    if len(found) < SHOWN:
        found += _with_letters(wanted, low, set(found))
    scored: list[tuple[int, int]] = []
    for number in found[:SCORED]:
        path = low[number]
        name = path.rstrip("/").rpartition("/")[2]
        in_path, in_name = score(wanted, path), score(wanted, name)
        if in_path is not None or in_name is not None:
            best = max(in_path if in_path is not None else -999, (in_name or -999) + 300)
            scored.append((-best + len(path) // 4, number))
    scored.sort()
    return [paths[number] for _points, number in scored[:SHOWN]]


def _with_letters(wanted: str, low: Sequence[str], known: set[int]) -> list[int]:
    """Paths that have all letters, wherever; the two rarest leave few to look at."""
    letters = sorted(set(wanted), key=RARE.find)  # what is no letter is rarer still
    first, second = letters[0], letters[1 % len(letters)]
    few = [n for n, path in enumerate(low) if first in path and second in path]
    others = letters[2:]
    return [n for n in few if n not in known and all(map(low[n].__contains__, others))]


def find_rg(root: Path) -> str:
    """Our own ripgrep, or one that does not lie inside the project; empty for none."""
    beside = Path(sys.executable).with_name("rg")
    return str(beside) if beside.exists() else find("rg", os.environ, here(os.environ, root))


async def _with_rg(program: str, root: Path) -> list[str] | None:
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            *("--files", "--hidden", "--no-config", "--glob=!.git"),
            cwd=root,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:  # the folder is gone, or the program cannot run here
        return None
    try:
        async with asyncio.timeout(LIMIT):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    return sorted(output.decode("utf-8", "replace").splitlines())[:MAX_FILES]


def _walk(root: Path) -> list[str]:
    paths: list[str] = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in SKIPPED)
        base = os.path.relpath(folder, root)
        prefix = "" if base == "." else f"{base}/"
        paths += [f"{prefix}{name}" for name in sorted(files)]
        if len(paths) > MAX_FILES:
            break
    return paths[:MAX_FILES]
