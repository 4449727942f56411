"""Commands about who answers: the model, how much it thinks, the keys of its provider."""

from __future__ import annotations

import asyncio

from gatewright.agent.commands.outcome import (
    Change,
    Outcome,
    Panel,
    Say,
    Secret,
    SetEffort,
    SetModel,
    Taken,
)
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.choices import KeyPlace, ModelBook
from gatewright.agent.providers.catalog import LADDER, ModelFacts
from gatewright.tools.blocks import Table, Text

AUTO = "auto"
NO_BOOK = "This session knows no other models."
IN_PROMPT = (
    "A key does not belong in the prompt. /login asks for it where nobody sees it; "
    "replace the one you just typed."
)


def commands() -> tuple[Command, ...]:
    return (
        Command(name="model", summary="The model that answers", args="[name]", run=model),
        Command(name="effort", summary="How much the model thinks", args="[level]", run=effort),
        Command(name="login", summary="Store a provider's key", args="[provider]", run=login),
        Command(name="logout", summary="Forget a stored key", args="[provider]", run=logout),
    )


async def model(args: str, context: CommandContext) -> Outcome:
    if args:
        return Change(SetModel(args))
    book = context.models
    if book is None:
        said = f"Model: {context.model or 'none yet'}. /model NAME switches."
        return Panel("model", fallback=Say.text(said))
    try:
        usable = await book.usable()
    except GatewrightError as error:
        return Say.text(str(error), "warning")
    current = book.resolved(context.model) if context.model else ""
    rows = [_row(found.name, current, found.facts, found.why) for found in usable]
    if current and current not in [found.name for found in usable]:
        rows.insert(0, _row(current, current, book.facts(current), "in use"))
    table = Table(("", "Model", "Window", "$ in", "$ out", "By"), tuple(rows))
    hint = "/model NAME switches; prices are per million tokens. /login adds a provider."
    return Panel("model", fallback=Say((table, Text(hint, "dim"))))


def _row(name: str, current: str, facts: ModelFacts, why: str) -> tuple[str, ...]:
    priced = facts.known and (facts.input or facts.output)
    return (
        "*" if name == current else "",
        name,
        _short(facts.window) if facts.known else "",
        f"{facts.input:g}" if priced else "",
        f"{facts.output:g}" if priced else "",
        why,
    )


def _short(tokens: int) -> str:
    return f"{tokens / 1_000_000:g}M" if tokens >= 1_000_000 else f"{tokens // 1000}k"


async def effort(args: str, context: CommandContext) -> Outcome:
    level = args.lower()
    if level == AUTO:
        return Change(SetEffort(""))
    if level in LADDER:
        return Change(SetEffort(level))
    book = context.models
    levels = book.facts(context.model).efforts if book is not None else ()
    if args:
        return Say.text(
            f"/effort takes one of {', '.join((AUTO, *(levels or LADDER)))}.", "warning"
        )
    if book is None or not levels:
        return Say.text(f"{context.model or 'No model'} has no levels of effort to choose from.")
    current = book.effort(context.model, context.effort)
    rows = [
        ("" if current else "*", AUTO, "what your settings say, else the model itself"),
        *(("*" if current == name else "", name, _means(name, levels)) for name in levels),
    ]
    hint = Text("/effort LEVEL switches, from the next turn on.", "dim")
    return Panel("effort", fallback=Say((Table(("", "Effort", ""), tuple(rows)), hint)))


def _means(level: str, levels: tuple[str, ...]) -> str:
    if level == levels[0]:
        return "quickest and cheapest"
    return "most thorough" if level == levels[-1] else ""


async def login(args: str, context: CommandContext) -> Outcome:
    book = context.models
    if book is None:
        return Say.text(NO_BOOK, "warning")
    if " " in args:
        return Say.text(IN_PROMPT, "warning")
    try:
        places = book.key_places()
    except GatewrightError as error:
        return Say.text(str(error), "warning")
    if not args:
        rows = tuple((place.provider, place.found or "none", place.page) for place in places)
        table = Table(("Provider", "Key", "Where to get one"), rows)
        return Panel("login", fallback=Say((table, Text("/login PROVIDER goes on.", "dim"))))
    place = next((place for place in places if place.provider == args), None)
    if place is None:
        names = ", ".join(place.provider for place in places)
        return Say.text(f"There is no provider {args} that takes a key: {names}.", "warning")
    return _asked(place, book, lacking=book.lacks(context.model))


def _asked(place: KeyPlace, book: ModelBook, *, lacking: bool) -> Secret:
    name = place.provider

    async def take(key: str) -> Say:
        try:
            untried = await book.check(name, key)
            where = await asyncio.to_thread(book.keep, name, key)
        except GatewrightError as error:
            return Taken((Text(f"{error} Try again, or leave with Esc.", "warning"),), again=True)
        doubt = f" Whether it works is not known: {untried}." if untried else ""
        said = (
            f"The key for {name} is kept in {where} and counts from the next message on.{doubt} "
            f"/model chooses one of its models; /logout {name} forgets the key."
        )
        usual = book.usual(name) if lacking else ""
        return Taken((Text(said),), then=f"/model {usual}" if usual else "")

    lines = [f"Make a key at {place.page}"] if place.page else []
    if place.found:
        lines.append(f"There is one already: {place.found}.")
        if place.found == place.variable:
            lines.append(f"{place.variable} comes before a stored key.")
    elif place.variable:
        lines.append(f"{place.variable} in the environment works as well.")
    run = f"Run `agent login {name}` in a terminal; it asks for the key without showing it."
    return Secret(
        "login",
        title=f"Key for {name}",
        fallback=Say.text("\n".join([*lines, run])),
        about=tuple(lines),
        take=take,
    )


async def logout(args: str, context: CommandContext) -> Outcome:
    book = context.models
    if book is None:
        return Say.text(NO_BOOK, "warning")
    try:
        if args:
            return Say.text(await _forgotten(args, book))
        stored = book.stored()
    except GatewrightError as error:
        return Say.text(str(error), "warning")
    if not stored:
        return Say.text("No key is stored. Keys in the environment are not ours to forget.")
    table = Table(("Stored key",), tuple((name,) for name in stored))
    return Panel("logout", fallback=Say((table, Text("/logout PROVIDER forgets it.", "dim"))))


async def _forgotten(provider: str, book: ModelBook) -> str:
    if not await asyncio.to_thread(book.forget, provider):
        return f"No key for {provider} is stored."
    left = next((p.found for p in book.key_places() if p.provider == provider), "")
    rest = f" Another one is still found: {left}." if left else ""
    return f"The key for {provider} is forgotten.{rest}"
