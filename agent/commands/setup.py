"""`/setup`: what could answer here, asked by itself where nothing that can is set up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import TypeAlias

from gatewright.agent.commands.models import Run, login, model
from gatewright.agent.commands.outcome import Change, Choice, Outcome, Pick, Problem, Say, SetModel
from gatewright.agent.commands.registry import Command, CommandContext, InUse
from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.choices import FIRST, ModelBook
from gatewright.agent.settings.overview import SettingsBook
from gatewright.tools.blocks import Table, Text

MODELS_SHOWN = 5  # of one server
Step: TypeAlias = Callable[[], Awaitable[Outcome]]


def setup_commands(book: ModelBook, settings: SettingsBook, in_use: InUse) -> tuple[Command, ...]:
    async def setup(context: CommandContext) -> Outcome:
        """With a model: use it from now on, in sessions to come too."""
        if context.args:
            return await _kept(settings, context.args)
        steps = [step async for step in _steps(book, settings, in_use)]
        rows = tuple((one.label, one.detail, one.typed) for one, _ in steps)
        hint = Text("Each line ends with the command that chooses it.", "dim")
        return Pick(
            fallback=Say((Table(("Answered by", "", "Choose with"), rows), hint)),
            title="What shall answer?",
            choices=tuple(one for one, _ in steps),
            choose=lambda id: next(step for one, step in steps if one.id == id)(),
        )

    return (Command(name="setup", summary="Choose what answers", args="[model]", run=setup),)


async def _kept(settings: SettingsBook, name: str) -> Outcome:
    try:
        await settings.set("model", f'"{name}"')
    except GatewrightError as error:
        return Problem.of(str(error))
    return Change(SetModel(name))


async def _steps(
    book: ModelBook, settings: SettingsBook, in_use: InUse
) -> AsyncIterator[tuple[Choice, Step]]:
    """What could answer, and what choosing it does."""

    def use(name: str, why: str) -> tuple[Choice, Step]:
        line = f"/setup {name}"
        return Choice(line, name, why, typed=line), partial(_kept, settings, name)

    def then(choice: Choice, run: Run, args: str = "") -> tuple[Choice, Step]:
        return choice, partial(run, book, in_use, CommandContext(args=args))

    places = book.key_places()
    for place in places:
        if place.found and (usual := book.usual(place.provider)):
            yield use(usual, f"key: {place.found}")
        elif place.found:
            label, has = f"{place.provider}: choose a model", f"key: {place.found}"
            yield then(Choice(label, label, has, typed="/model"), model)
    for server in await book.nearby():
        for name in server.models[:MODELS_SHOWN]:
            yield use(f"{server.provider}/{name}", "on this machine")
    pages = {place.provider: place.page for place in places if not place.found}
    for one in FIRST:
        if one in pages:
            choice = Choice(one, f"a key for {one}", pages[one], typed=f"/login {one}")
            yield then(choice, login, one)
    yield then(Choice("/login", "a key for another provider", typed="/login"), login)
    about = "a guided tour: no key, no network"
    yield then(Choice("/demo", "the demo", about, typed="/model demo"), model, "demo")
