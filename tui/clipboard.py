"""Copying what was said: by OSC 52, and to the desktop's own clipboard where a tool is there."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Mapping, Sequence

from gatewright.agent.printable import spelled

TOOLS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("pbcopy", (), ""),
    ("wl-copy", (), "WAYLAND_DISPLAY"),
    ("xclip", ("-selection", "clipboard"), "DISPLAY"),
    ("xsel", ("--clipboard", "--input"), "DISPLAY"),
)
LIMIT = 2.0
_ACTS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


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
