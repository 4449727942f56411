"""Copying what was said: by OSC 52, through tmux, and to the desktop where a tool is there.

Pictures come from the desktop by the tool that reads them: terminals paste only text.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from gatewright.agent.text.printable import spelled
from gatewright.tools.protocol import ImageContent, SpawnRequest, ToolFailure
from gatewright.tools.system.pipes import holding
from gatewright.tools.system.processes import printed, spawn
from gatewright.tools.system.programs import find
from gatewright.tools.system.project import here

READERS: tuple[Tool, ...] = (
    ("pngpaste", ("-",), ""),
    ("wl-paste", ("--type", "image/png"), "WAYLAND_DISPLAY"),
    ("xclip", ("-selection", "clipboard", "-target", "image/png", "-out"), "DISPLAY"),
)
LARGEST = 5 * 1024 * 1024
PNG = b"\x89PNG\r\n\x1a\n"

Tool: TypeAlias = tuple[str, tuple[str, ...], str]  # a name, its arguments, a variable it needs
TOOLS: tuple[Tool, ...] = (
    ("pbcopy", (), ""),
    ("wl-copy", (), "WAYLAND_DISPLAY"),
    ("xclip", ("-selection", "clipboard"), "DISPLAY"),
    ("xsel", ("--clipboard", "--input"), "DISPLAY"),
)
# tmux takes OSC 52 of programs only where its default is changed, but hands on what it is given
# itself; before 3.2 it keeps that.
TMUX = (("load-buffer", "-w", "-"), ("load-buffer", "-"))
LIMIT = 2.0
_ACTS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def tool(tools: Sequence[Tool], env: Mapping[str, str]) -> tuple[str, ...] | None:
    """The command of the first of these tools that this machine has."""
    for name, arguments, needs in tools:
        if needs and not env.get(needs):
            continue
        found = find(name, env, here(env))
        if found:
            return (found, *arguments)
    return None


def multiplexer(env: Mapping[str, str]) -> list[tuple[str, ...]]:
    """The commands that hand text to the tmux around us, each for where the one before fails."""
    found = find("tmux", env, here(env)) if env.get("TMUX") else ""
    return [(found, *arguments) for arguments in TMUX] if found else []


async def copy_locally(text: str, env: Mapping[str, str] = os.environ) -> None:
    """Give the text to tmux and to the desktop; silently nothing where there is neither."""
    data = text.encode("utf-8", "replace")
    argv = tool(TOOLS, env)
    await asyncio.gather(
        _first_that_takes(multiplexer(env), data, env),
        _first_that_takes([argv] if argv is not None else [], data, env),
    )


async def _first_that_takes(
    commands: Sequence[tuple[str, ...]], data: bytes, env: Mapping[str, str]
) -> None:
    for argv in commands:
        if await _given(argv, data, env):
            return


async def _given(argv: tuple[str, ...], data: bytes, env: Mapping[str, str]) -> bool:
    """Whether it took the data; such a tool stays, to hand it out."""
    request = SpawnRequest(argv=argv, cwd=Path("/"), env=env, stdin=holding(data), leaves=True)
    try:
        child = await spawn(request)
    except ToolFailure:
        return False  # it went away, or cannot be run
    finally:
        os.close(request.stdin)
    try:
        async with asyncio.timeout(LIMIT):
            return await child.wait() == 0
    except TimeoutError:
        await child.kill(0.0)
        return False


def part_of_answers(answers: Sequence[str], which: str) -> tuple[str, str]:
    """What `/copy` means, the newest answer first, and what to tell; empty when there is none."""
    number = int(which) if which.isdigit() else 1
    if not 1 <= number <= len(answers):
        return "", "There is no such answer."
    text = answers[number - 1]
    if which == "code":
        blocks = text.split("```")[1::2]
        if not blocks:
            return "", "The last answer holds no code."
        text = "\n".join(block.partition("\n")[2].rstrip("\n") for block in blocks)
    text = _ACTS.sub(lambda match: spelled(match[0]), text)  # a shell may get it as it is
    return text, f"Copied {len(text)} characters."


async def clipboard_picture(env: Mapping[str, str] = os.environ) -> ImageContent | None:
    """None where there is no picture, no tool, or one that is too large."""
    argv = tool(READERS, env)
    if argv is None:
        return None
    request = SpawnRequest(argv=argv, cwd=Path("/"), env=dict(env))
    try:
        _code, data, _errors = await printed(request, seconds=LIMIT, keep=LARGEST + 1)
    except ToolFailure:
        return None  # it went away, or cannot be run
    if not data.startswith(PNG) or len(data) > LARGEST:
        return None
    return ImageContent("image/png", base64.b64encode(data).decode("ascii"))
