"""A picture in the desktop's clipboard, by the tool that reads it: terminals paste only text."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
from collections.abc import Mapping

from gatewright.tools.protocol import ImageContent
from gatewright.tools.system.programs import find
from gatewright.tools.system.project import here

TOOLS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("pngpaste", ("-",), ""),
    ("wl-paste", ("--type", "image/png"), "WAYLAND_DISPLAY"),
    ("xclip", ("-selection", "clipboard", "-target", "image/png", "-out"), "DISPLAY"),
)
LIMIT = 2.0  # seconds
LARGEST = 5 * 1024 * 1024
PNG = b"\x89PNG\r\n\x1a\n"


def reader(env: Mapping[str, str]) -> tuple[str, ...] | None:
    """The command that prints the picture, if this machine has one."""
    for name, arguments, needs in TOOLS:
        if needs and not env.get(needs):
            continue
        if found := find(name, env, here(env)):
            return (found, *arguments)
    return None


async def clipboard_picture(env: Mapping[str, str] = os.environ) -> ImageContent | None:
    """None where there is no picture, no tool, or one that is too large."""
    argv = reader(env)
    if argv is None:
        return None
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    data = bytearray()
    try:
        async with asyncio.timeout(LIMIT):
            while len(data) <= LARGEST and (chunk := await process.stdout.read(65536)):
                data += chunk
    except TimeoutError:
        data.clear()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if not data.startswith(PNG) or len(data) > LARGEST:
        return None
    return ImageContent("image/png", base64.b64encode(data).decode("ascii"))
