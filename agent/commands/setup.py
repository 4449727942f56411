"""`/setup`: what could answer here, asked by itself where nothing that can is set up."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Change, Outcome, Panel, Say, SetModel
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.choices import FIRST, ModelBook
from gatewright.tools.blocks import Table, Text

NONE = "This session knows no other models."
MODELS_SHOWN = 5  # of one server


def commands() -> tuple[Command, ...]:
    return (Command(name="setup", summary="Choose what answers", args="[model]", run=setup),)


async def setup(args: str, context: CommandContext) -> Outcome:
    """With a model: use it from now on, in sessions to come too."""
    book = context.models
    if book is None:
        return Say.text(NONE, "warning")
    try:
        if args:
            if context.settings is not None:
                await context.settings.set("model", f'"{args}"')
            return Change(SetModel(args))
        rows = await _rows(book)
    except GatewrightError as error:
        return Say.text(str(error), "warning")
    hint = Text("Each line ends with the command that chooses it.", "dim")
    return Panel("setup", fallback=Say((Table(("Answered by", "", "Choose with"), rows), hint)))


async def _rows(book: ModelBook) -> tuple[tuple[str, str, str], ...]:
    places = book.key_places()
    keyed = [
        (model, f"key: {place.found}", f"/setup {model}")
        if (model := book.usual(place.provider))
        else (f"{place.provider}: choose a model", f"key: {place.found}", "/model")
        for place in places
        if place.found
    ]
    local = [
        (name, "on this machine", f"/setup {name}")
        for server in await book.nearby()
        for name in (f"{server.provider}/{model}" for model in server.models[:MODELS_SHOWN])
    ]
    pages = {place.provider: place.page for place in places if not place.found}
    ask = [(f"a key for {one}", pages[one], f"/login {one}") for one in FIRST if one in pages]
    return (
        *keyed,
        *local,
        *ask,
        ("a key for another provider", "", "/login"),
        ("the demo", "a guided tour: no key, no network", "/model demo"),
    )
