"""`/statusline`: what makes the status line, and how to have it made by a command."""

from __future__ import annotations

import asyncio
import json
from functools import partial

from gatewright.agent.commands.outcome import Outcome, Page, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.settings.overview import Setting, SettingsBook
from gatewright.tools.blocks import Block, Table, Text

KEY = "statusLine"
OFF = ("off", "none", "clear", "delete", "remove")
HELP = (
    "/statusline COMMAND has a shell command make the line, /statusline off takes it away. The "
    "command reads the session as JSON on its standard input (the fields are those of Claude Code) "
    "and prints the line; colours stay. The permission mode always stands before it."
)


def statusline_commands(book: SettingsBook) -> tuple[Command, ...]:
    return (
        Command(
            name="statusline",
            summary="Have the status line made by a command of yours",
            args="[COMMAND | off]",
            run=partial(statusline, book),
        ),
    )


async def statusline(book: SettingsBook, context: CommandContext) -> Outcome:
    args = context.args
    if not args:
        shown = Say(await asyncio.to_thread(_about, book))
        return Page(title="Status line", fallback=shown)
    if args.lower() in OFF:
        return Say.text(await _off(book))
    return Say.text(await _set(book, args))


def _about(book: SettingsBook) -> tuple[Block, ...]:
    rows = tuple(
        (each.key, each.value, each.source)
        for each in book.rows()
        if each.key.startswith(KEY) or each.key == "disableAllHooks"
    )
    if not rows:
        return (Text("The built-in status line is shown."), Text(HELP, "dim"))
    return (Table(("Setting", "Value", "From"), rows), Text(HELP, "dim"))


async def _off(book: SettingsBook) -> str:
    await book.unset(KEY)
    left = await asyncio.to_thread(_command, book)
    if left:
        return f"Yours is gone; {left.source} settings still have {left.value}."
    return "The built-in status line is shown again."


async def _set(book: SettingsBook, command: str) -> str:
    told = await book.set(KEY, json.dumps({"type": "command", "command": command}))
    now = await asyncio.to_thread(_command, book)
    if now is None or now.value != json.dumps(command, ensure_ascii=False):
        return told
    disabled = await asyncio.to_thread(_disabled, book)
    off = " disableAllHooks keeps it from running." if disabled else ""
    return f"The status line is made by {command} from now on.{off}"


def _command(book: SettingsBook) -> Setting | None:
    return next((each for each in book.rows() if each.key == f"{KEY}.command"), None)


def _disabled(book: SettingsBook) -> bool:
    return any(each.key == "disableAllHooks" and each.value == "true" for each in book.rows())
