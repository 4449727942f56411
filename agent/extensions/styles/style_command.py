"""/output-style: how answers are written, one of those there are. It counts from a clear on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from gatewright.agent.commands.outcome import Choice, Outcome, Pick, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.commands.settings import kept
from gatewright.agent.settings.overview import SettingsBook
from gatewright.tools.blocks import Table, Text

if TYPE_CHECKING:
    from gatewright.agent.context.prompt.style_files import Styles

KEY = "outputStyle"
LATER = "A style is part of what the model is told first: a change counts from /clear on."
HINT = f"/output-style NAME chooses one. {LATER}"


class StyleBook(Protocol):
    """The styles of a session: `name` is in use, `chosen` is what the setting says."""

    @property
    def name(self) -> str: ...
    @property
    def chosen(self) -> str: ...
    def all(self) -> Styles: ...


def style_commands(book: StyleBook, settings: SettingsBook) -> tuple[Command, ...]:
    return (
        Command(
            name="output-style",
            summary="How answers are written, from the next conversation on",
            args="[NAME]",
            run=partial(output_style, book, settings),
        ),
    )


async def output_style(book: StyleBook, settings: SettingsBook, context: CommandContext) -> Outcome:
    styles = await asyncio.to_thread(book.all)
    if context.args:
        return await _chosen(styles, settings, context.args)
    rows = [
        (_mark(each.name, book), each.name, each.description, each.origin) for each in styles.every
    ]
    told = tuple(Text(problem, "warning") for problem in styles.problems)

    async def choose(name: str) -> Outcome:
        return await _chosen(styles, settings, name)

    return Pick(
        fallback=Say((Table(("", "Style", "", "From"), tuple(rows)), *told, Text(HINT, "dim"))),
        title="Output style",
        choices=tuple(
            Choice(name, name, description, mark or origin, f"/output-style {name}")
            for mark, name, description, origin in rows
        ),
        choose=choose,
        about=(LATER, *styles.problems),
        at=_at(book, [row[1] for row in rows]),
    )


async def _chosen(styles: Styles, settings: SettingsBook, name: str) -> Outcome:
    found = styles.find(name)
    if found is None:
        names = ", ".join(each.name for each in styles.every)
        return Problem.of(f"There is no output style {name[:60]}: there are {names}.")
    return await kept(settings, KEY, found.name)


def _mark(name: str, book: StyleBook) -> str:
    if name == book.name:
        return "in use"
    return "from /clear on" if name.casefold() == book.chosen.casefold() else ""


def _at(book: StyleBook, names: Sequence[str]) -> int:
    return names.index(book.name) if book.name in names else 0
