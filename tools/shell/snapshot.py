"""The aliases and functions of the person's own shell start-up file, taken once."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gatewright.tools.protocol import SpawnRequest, ToolContext, ToolFailure
from gatewright.tools.system import private
from gatewright.tools.system.patterns import later

_SECONDS = 5.0
_SIZE = 256 * 1024
_PRIVATE = later(r"^_\w*\s*\(\)\s*\n\{.*?^\}\n", re.MULTILINE | re.DOTALL)


async def snapshot(program: str, env: Mapping[str, str], ctx: ToolContext) -> Path | None:
    """A file to source before each command; None when there is nothing to take over."""
    home = ctx.where.home
    if not await asyncio.to_thread((home / ".bashrc").is_file):
        return None
    mark = f"snapshot-{secrets.token_hex(8)}"
    text = f"echo; echo {mark}; alias -p; declare -f; echo {mark}"
    request = SpawnRequest(argv=(program, "-i", "-c", text), cwd=home, env=env)
    if ctx.confinement is not None:
        request = ctx.confinement.confine(request)
    try:
        child = await ctx.spawn(request)
    except ToolFailure:
        return None
    data = bytearray()
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS):
                while len(data) < 4 * _SIZE and (chunk := await child.read()):
                    data += chunk
    finally:
        await child.kill(0.2)
    parts = data.decode(errors="replace").split(f"{mark}\n")
    if len(parts) != 3:
        return None
    # Names with an underscore belong to completion: large, and useless without a terminal.
    found = _PRIVATE.sub("", parts[1])
    if not found.strip() or len(found) > _SIZE:
        return None
    path = ctx.spill / "shell-snapshot.sh"
    try:
        await asyncio.to_thread(_write, path, found)
    except OSError:
        return None
    return path


def _write(path: Path, text: str) -> None:
    private.write(path, text.encode())
