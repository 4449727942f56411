"""Copying what was said: by OSC 52, through tmux, and to the desktop where a tool is there."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence

from gatewright.agent.text.printable import spelled
from gatewright.tools.system.programs import find
from gatewright.tools.system.project import here

TOOLS: tuple[tuple[str, tuple[str, ...], str], ...] = (
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


def tool(env: Mapping[str, str]) -> tuple[str, ...] | None:
    """The command that takes text for the clipboard, if this machine has one."""
    for name, arguments, needs in TOOLS:
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
    argv = tool(env)
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
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return False  # it went away, or cannot be run
    try:
        async with asyncio.timeout(LIMIT):
            await process.communicate(data)
    except TimeoutError:
        process.kill()
        await process.wait()
    return process.returncode == 0


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
