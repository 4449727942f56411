"""Commands about how the program is set up: its settings, and whether this machine is ready."""

from __future__ import annotations

import asyncio
from functools import partial

from gatewright.agent.commands.outcome import (
    Change,
    Outcome,
    Problem,
    Say,
    SetEffort,
    SetModel,
    SetUi,
)
from gatewright.agent.commands.panels import ConfigPanel, DoctorPanel
from gatewright.agent.commands.registry import Command, CommandContext, Modes
from gatewright.agent.errors import GatewrightError
from gatewright.agent.settings.overview import SettingsBook
from gatewright.tools.blocks import Block, Table, Text, Tone

HINT = "/config KEY explains one, /config KEY VALUE sets it in your own settings."
WIDTH = 60
TONES: dict[str, Tone] = {"ok": "normal", "!!": "warning", "XX": "error"}


def setting_commands(book: SettingsBook, modes: Modes) -> tuple[Command, ...]:
    return (
        Command(
            name="config",
            summary="Settings with where they come from; explain one, set one",
            args="[KEY [VALUE] | unset KEY]",
            aliases=("settings",),
            run=partial(config, book, modes),
        ),
        Command(
            name="doctor",
            summary="Check this machine and say what to do",
            run=partial(doctor, book),
        ),
    )


async def config(book: SettingsBook, modes: Modes, context: CommandContext) -> Outcome:
    key, _, value = context.args.partition(" ")
    value = value.strip()
    if not key:
        fallback = Say(await asyncio.to_thread(_all, book))
        choices = {"permissions.defaultMode": tuple(modes.rows())}

        async def taken(key: str) -> Outcome:
            return taken_up(book, key)

        return ConfigPanel(fallback=fallback, book=book, taken_up=taken, choices=choices)
    if key == "unset":
        if not value:
            return Problem.of("Usage: /config unset KEY")
        return taken_up(book, value, Say.text(await book.unset(value)))
    if value:
        return await kept(book, key, value)
    return Say(await asyncio.to_thread(_one, book, key))


NOTHING = Say(())


async def kept(book: SettingsBook, key: str, value: str) -> Outcome:
    """Keep a value in the person's own file."""
    try:
        return taken_up(book, key, Say.text(await book.set(key, value)))
    except GatewrightError as error:
        return Problem.of(str(error))


def taken_up(book: SettingsBook, key: str, told: Say = NOTHING) -> Outcome:
    """What a setting that has another value means for this very session."""
    value = book.value(key)
    if key == "model" and value:
        return Change(SetModel(value), told.blocks)
    if key == "effort" and value:
        return Change(SetEffort(value), told.blocks)
    return Change(SetUi(key, book.ui), told.blocks) if key.startswith("ui.") else told


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


async def doctor(book: SettingsBook, context: CommandContext) -> Outcome:
    checks = await asyncio.to_thread(book.checks)
    if context.front.panels:  # each check is shown as it ends
        return DoctorPanel(fallback=Say(()), checks=checks)
    found = await asyncio.to_thread(lambda: [each for check in checks for each in check.run()])
    blocks: list[Block] = []
    for finding in found:
        line = f"{finding.health}  {finding.name.ljust(10)} {finding.fact}"
        blocks.append(Text(line, TONES[finding.health]))
        if finding.advice:
            blocks.append(Text(f"    {' ' * 10} {finding.advice}", "dim"))
    return DoctorPanel(fallback=Say(tuple(blocks)), checks=checks)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
