"""Names that a missing path may have meant, for an error message.

Only names of the project that no rule hides: the message may come before anybody was asked.
"""

from __future__ import annotations

import difflib
import itertools
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.system.exact import open_directory, real_path

_ENTRIES = 2000
NOT_FOUND = "not found"


def missing(path: Path, ctx: ToolContext) -> ToolFailure:
    """That `path` does not exist, with the nearest names there and what exists of the way."""
    what, hint = _looked(path, ctx)
    here = f"The current directory is {ctx.where.cwd}."
    shown = f"There is no {ctx.where.shown(path)}.{hint}"
    return ToolFailure(f"{path} does not exist{what}.{hint} {here}", shown=shown, summary=NOT_FOUND)


def _looked(path: Path, ctx: ToolContext) -> tuple[str, str]:
    real = ctx.real.get(path) or Path(real_path(path))  # where it was judged to lead
    parent = real.parent
    known = _names(parent, ctx)
    if known is not None:
        names = difflib.get_close_matches(real.name, known, n=3, cutoff=0.6)
        stem = [name for name in known if Path(name).stem == real.stem]
        return "", _hint(list(dict.fromkeys([*names, *stem]))[:4])
    while not parent.is_dir():
        parent = parent.parent
    known = _names(parent, ctx)
    rest = real.relative_to(parent).parts
    if known is None or not rest:
        return "", ""
    near = difflib.get_close_matches(rest[0], known, n=3, cutoff=0.6)
    return f": {parent} has no {rest[0]}", _hint(near)


def _hint(names: Sequence[str]) -> str:
    return f" Near names there: {', '.join(names)}." if names else ""


def _names(directory: Path, ctx: ToolContext) -> Sequence[str] | None:
    """What may be named of a directory; None for one that is not there or not opened to us."""
    if not any(directory.is_relative_to(inside) for inside in (ctx.where.root, *ctx.where.added)):
        return None
    with ExitStack() as held:
        try:
            here = open_directory(directory)
            held.callback(os.close, here)
            fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
            held.callback(os.close, fd)
            names = [entry.name for entry in itertools.islice(os.scandir(fd), _ENTRIES)]
        except OSError:
            return None
    return [name for name in names if ctx.readable(str(directory / name))]
