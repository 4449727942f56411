"""/plan: go into plan mode, also with a task; look at the plan, or write in it."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from gatewright.agent.commands.outcome import Change, Form, Outcome, Problem, Say, SetMode
from gatewright.agent.commands.registry import Command, CommandContext, Modes
from gatewright.tools.blocks import Markdown, Text

PLAN = "plan"
LARGEST = 512 * 1024
NONE_YET = "Plan mode: nothing is changed before you approve a plan. There is none yet."


def plan_commands(modes: Modes) -> tuple[Command, ...]:
    return (
        Command(
            name="plan",
            summary="Plan first: nothing is changed before you approve; show or edit the plan",
            args="[open | TASK]",
            run=partial(plan, modes),
        ),
    )


async def plan(modes: Modes, context: CommandContext) -> Outcome:
    path, args = modes.plan_file(), context.args
    if args == "open":
        return await _open(path)
    if args:
        return Change(SetMode(PLAN, then=args))
    if modes.current() != PLAN:
        return Change(SetMode(PLAN))
    text = await asyncio.to_thread(_read, path)
    if not text:
        return Say.text(NONE_YET)
    return Say((Markdown(text), Text(f"{path}: /plan open edits it.", "dim")))


async def _open(path: Path | None) -> Outcome:
    text = await asyncio.to_thread(_read, path)
    if path is None or not text:
        return Say.text("There is no plan yet. /plan TASK has one made.")
    fallback = Say.text(f"The plan is in {path}.")
    return Form(fallback=fallback, text=text, take=partial(_save, path))


async def _save(path: Path, text: str) -> Say:
    try:
        await asyncio.to_thread(path.write_text, text, encoding="utf-8")
    except OSError as error:
        return Problem.of(f"{path} cannot be written: {error.strerror}.")
    return Say.text(f"The plan is kept in {path}.")


def _read(path: Path | None) -> str:
    try:
        if path is None or path.stat().st_size > LARGEST:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
