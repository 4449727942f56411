"""Commands about how the program is set up: its settings, and whether this machine is ready."""

from __future__ import annotations

import asyncio

from gatewright.agent.commands.outcome import Outcome, Panel, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.settings_book import SettingsBook
from gatewright.tools.blocks import Block, Table, Text, Tone

NO_BOOK = "This session knows no settings."
HINT = "/config KEY explains one, /config KEY VALUE sets it in your own settings."
WIDTH = 60
TONES: dict[str, Tone] = {"ok": "normal", "!!": "warning", "XX": "error"}


def commands() -> tuple[Command, ...]:
    return (
        Command(
            name="config",
            summary="Settings with where they come from; explain one, set one",
            args="[KEY [VALUE] | unset KEY]",
            aliases=("settings",),
            run=config,
        ),
        Command(name="doctor", summary="Check this machine and say what to do", run=doctor),
    )


async def config(args: str, context: CommandContext) -> Outcome:
    book = context.settings
    if book is None:
        return Say.text(NO_BOOK, "warning")
    key, _, value = args.partition(" ")
    value = value.strip()
    try:
        if not key:
            return Panel("config", fallback=Say(await asyncio.to_thread(_all, book)))
        if key == "unset":
            if not value:
                return Say.text("Usage: /config unset KEY", "warning")
            return Say.text(await asyncio.to_thread(book.unset, value))
        if value:
            return Say.text(await asyncio.to_thread(book.set, key, value))
        return Say(await asyncio.to_thread(_one, book, key))
    except GatewrightError as error:
        return Say.text(str(error), "warning")


def _all(book: SettingsBook) -> tuple[Block, ...]:
    rows = tuple((each.key, _cut(each.value), each.source) for each in book.rows())
    blocks: list[Block] = [
        Table(("Setting", "Value", "From"), rows) if rows else Text("All settings have defaults.")
    ]
    blocks += [Text(problem, "warning") for problem in book.problems()]
    return (*blocks, Text(HINT, "dim"))


def _one(book: SettingsBook, key: str) -> tuple[Block, ...]:
    about = book.about(key)
    rows = tuple((each.key, _cut(each.value), each.source) for each in about.settings)
    blocks: list[Block] = [Table(("Setting", "Value", "From"), rows)]
    if about.help:
        blocks.append(Text(about.help))
    if about.belongs:
        blocks.append(Text(f"It takes {about.belongs}.", "dim"))
    return tuple(blocks)


async def doctor(args: str, context: CommandContext) -> Outcome:
    del args
    book = context.settings
    if book is None:
        return Say.text(NO_BOOK, "warning")
    found = await asyncio.to_thread(lambda: list(book.examine()))
    blocks: list[Block] = []
    for finding in found:
        line = f"{finding.health.value}  {finding.name.ljust(10)} {finding.fact}"
        blocks.append(Text(line, TONES[finding.health.value]))
        if finding.advice:
            blocks.append(Text(f"    {' ' * 10} {finding.advice}", "dim"))
    return Panel("doctor", fallback=Say(tuple(blocks)))


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
