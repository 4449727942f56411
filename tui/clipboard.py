"""Copying: to the terminal by OSC 52, and to the desktop's own clipboard where a tool is there."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping

TOOLS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("pbcopy", (), ""),
    ("wl-copy", (), "WAYLAND_DISPLAY"),
    ("xclip", ("-selection", "clipboard"), "DISPLAY"),
    ("xsel", ("--clipboard", "--input"), "DISPLAY"),
)
LIMIT = 2.0


def tool(env: Mapping[str, str]) -> tuple[str, ...] | None:
    """The command that takes text for the clipboard, if this machine has one."""
    for name, arguments, needs in TOOLS:
        if needs and not env.get(needs):
            continue
        found = shutil.which(name)
        if found:
            return (found, *arguments)
    return None


async def copy_locally(text: str) -> None:
    """Give the text to the desktop; silently nothing where there is none."""
    argv = tool(os.environ)
    if argv is None:
        return
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(LIMIT):
            await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        process.kill()
        await process.wait()
