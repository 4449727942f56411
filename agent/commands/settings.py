"""Commands about how the program is set up: its settings, and whether this machine is ready."""

from __future__ import annotations

import asyncio

from gatewright.agent.commands.outcome import Outcome, Say
from gatewright.agent.commands.panels import ConfigPanel, DoctorPanel, SettingChanged
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.settings.overview import SettingsBook
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
            fallback = Say(await asyncio.to_thread(_all, book))
            modes = {"permissions.defaultMode": tuple(context.modes.rows())}
            return ConfigPanel("config", fallback=fallback, book=book, choices=modes)
        if key == "unset":
            if not value:
                return Say.text("Usage: /config unset KEY", "warning")
            return _changed(value, await book.unset(value), book)
        if value:
            return _changed(key, await book.set(key, value), book)
        return Say(await asyncio.to_thread(_one, book, key))
    except GatewrightError as error:
        return Say.text(str(error), "warning")


def _changed(key: str, told: str, book: SettingsBook) -> Outcome:
    return SettingChanged("setting", fallback=Say.text(told), key=key, book=book)


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
    checks = await asyncio.to_thread(book.checks)
    if context.panels:  # each check is shown as it ends
        return DoctorPanel("doctor", fallback=Say(()), checks=checks)
    found = await asyncio.to_thread(lambda: [each for check in checks for each in check.run()])
    blocks: list[Block] = []
    for finding in found:
        line = f"{finding.health}  {finding.name.ljust(10)} {finding.fact}"
        blocks.append(Text(line, TONES[finding.health]))
        if finding.advice:
            blocks.append(Text(f"    {' ' * 10} {finding.advice}", "dim"))
    return DoctorPanel("doctor", fallback=Say(tuple(blocks)), checks=checks)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
