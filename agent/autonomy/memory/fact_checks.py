"""Whether what facts name is still there: paths and names of code, looked for in the project.

A name counts as gone only after all of the project was looked through; nothing of a file is kept.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from gatewright.tools.system.patterns import later
from gatewright.tools.system.regular import head_of

FILES, BYTES, LARGEST = 30_000, 100_000_000, 1_000_000
SECONDS = 8.0
SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", "dist", "build"})
_SPAN = later(r"`([^`\s]{2,200})`")
_PATH = later(r"(?<![\w:/.~@-])(?:[\w.-]+/)+[\w.-]*\w(?:\.\w{1,8})?(?![\w/])")
_NAMED = later(r"[\w-][\w.-]*\.(?:[a-z]{1,4}|toml|json|yaml)")
_SYMBOL = later(r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w{3,})(\(\))?")


def named(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The paths in a fact, and the names of code; only what plainly is one."""
    paths: set[str] = set()
    symbols: set[str] = set()
    for found in _PATH.finditer(text):
        paths.add(found[0].rstrip("."))
    for span in _SPAN.finditer(text):
        inner = re.sub(r":\d+(?:-\d+)?$", "", span[1])
        if "/" in inner or "*" in inner:
            continue
        if _NAMED.fullmatch(inner):
            paths.add(inner)
        elif (symbol := _SYMBOL.fullmatch(inner)) is not None and _is_code(inner, symbol[1]):
            symbols.add(symbol[1])
    return frozenset(paths), frozenset(symbols)


def _is_code(inner: str, name: str) -> bool:
    humped = any(a.islower() and b.isupper() for a, b in pairwise(name))
    return inner.endswith("()") or "_" in name.strip("_") or humped


def gone(
    texts: Sequence[str], roots: Sequence[Path], clock: Callable[[], float] = time.monotonic
) -> Mapping[str, tuple[tuple[str, ...], bool]]:
    """By text, what it names that is gone, and whether that is all it names."""
    about = {text: named(text) for text in texts}
    symbols = frozenset(name for _, names in about.values() for name in names)
    loose = frozenset(path for paths, _ in about.values() for path in paths if "/" not in path)
    unseen = _unseen(symbols, loose, roots, clock() + SECONDS, clock) if symbols | loose else None
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    for text, (paths, names) in about.items():
        lost = [path for path in paths if "/" in path and _lost(path, roots)]
        lost += [each for each in (*paths, *names) if unseen is not None and each in unseen]
        if lost:
            found[text] = (tuple(sorted(lost)), len(lost) == len(paths) + len(names))
    return found


def _lost(path: str, roots: Sequence[Path]) -> bool:
    """A path of the project that is not there. Whatever may be no path at all is not lost."""
    parts = path.split("/")
    if ".." in parts:
        return False
    here = [root for root in roots if os.path.lexists(root / parts[0])]
    is_file = "." in parts[-1].strip(".")
    return bool(here or is_file) and not any(os.path.lexists(root / path) for root in roots)


def _unseen(
    symbols: frozenset[str],
    files: frozenset[str],
    roots: Sequence[Path],
    until: float,
    clock: Callable[[], float],
) -> frozenset[str] | None:
    """Which of them no file has, and no file is called; None where not all could be looked at."""
    left = {name: name.encode() for name in symbols}
    names = set(files)
    size = 0
    for count, path in enumerate(_walked(roots), 1):
        names.discard(path.name)
        left.pop(path.stem, None)
        if not left and not names:
            break
        with suppress(OSError, ValueError):
            data = head_of(path, LARGEST + 1, follow=False)
            if len(data) > LARGEST and b"\0" not in data[:8_000] and left:
                return None  # a text, the rest of which nobody looked at
            for name in [each for each, word in left.items() if word in data]:
                del left[name]
            size += len(data)
        if count > FILES or size > BYTES or clock() > until:
            return None
    return frozenset(left) | names


def _walked(roots: Sequence[Path]) -> Iterator[Path]:
    for root in dict.fromkeys(roots):
        for folder, below, names in os.walk(root):
            below[:] = sorted(name for name in below if name not in SKIPPED)
            yield from (Path(folder, name) for name in sorted(names))
