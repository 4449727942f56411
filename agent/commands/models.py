"""Commands about who answers: the model, how much it thinks, the keys of its provider."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from gatewright.agent.commands.outcome import (
    Change,
    Choice,
    Outcome,
    Pick,
    Problem,
    Say,
    Secret,
    SetEffort,
    SetModel,
)
from gatewright.agent.commands.registry import Command, CommandContext, InUse
from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.choices import KeyPlace, ModelBook
from gatewright.agent.providers.catalog import LADDER, ModelFacts
from gatewright.tools.blocks import Table, Text

Run: TypeAlias = Callable[[ModelBook, InUse, CommandContext], Awaitable[Outcome]]

MODEL_TITLE = "Model"
HEADS = ("Window", "$ in", "$ out")
AUTO = "auto"
ULTRACODE, HIGHEST = "ultracode", "xhigh"
AGREED = (
    "The model begins workflows by itself wherever it sees fit, and nobody asks before one begins; "
    "for this session. /effort high leaves that."
)
IN_PROMPT = (
    "A key does not belong in the prompt. /login asks for it where nobody sees it; "
    "replace the one you just typed."
)


def model_commands(
    book: ModelBook, in_use: InUse, ultracode: Callable[[], bool] = lambda: False
) -> tuple[Command, ...]:
    """`ultracode` says whether there are workflows for the effort of that name."""

    def of(name: str, summary: str, args: str, run: Run) -> Command:
        return Command(name=name, summary=summary, args=args, run=partial(run, book, in_use))

    return (
        of("model", "The model that answers", "[name]", model),
        Command(
            name="effort",
            summary="How much the model thinks",
            args="[level]",
            run=partial(effort, book, in_use, ultracode),
        ),
        of("login", "Store a provider's key", "[provider]", login),
        of("logout", "Forget a stored key", "[provider]", logout),
    )


async def model(book: ModelBook, in_use: InUse, context: CommandContext) -> Outcome:
    if context.args:
        return Change(SetModel(context.args))
    try:
        usable = await book.usable()
    except GatewrightError as error:
        return Problem.of(str(error))
    current = book.resolved(in_use.name) if in_use.name else ""
    rows = [_row(found.name, current, found.facts, found.why) for found in usable]
    if current and current not in [found.name for found in usable]:
        rows.insert(0, _row(current, current, book.facts(current), "in use"))
    table = Table(("", "Model", *HEADS, "By"), tuple(rows))
    hint = "/model NAME switches; prices are per million tokens. /login adds a provider."

    async def choose(name: str) -> Outcome:
        return Change(SetModel(name)) if name else await login(book, in_use, CommandContext())

    return Pick(
        fallback=Say((table, Text(hint, "dim"))),
        title=MODEL_TITLE,
        about=("Prices are dollars for a million tokens.",),
        head=model_head(rows),
        choices=model_choices(rows),
        choose=choose,
        at=next((n for n, row in enumerate(rows) if row[0]), 0),
    )


def model_choices(rows: Sequence[tuple[str, ...]]) -> tuple[Choice, ...]:
    """In columns; the last one leads to more models."""
    models = (
        Choice(
            row[1],
            row[1],
            _figures(rows, row[2:5]),
            "in use" if row[0] else row[5],
            f"/model {row[1]}",
        )
        for row in rows
    )
    return (*models, Choice("", "other models", "log in to a provider", typed="/login"))


def model_head(rows: Sequence[tuple[str, ...]]) -> Choice:
    return Choice("", "Model", _figures(rows, HEADS), "By")


def _figures(rows: Sequence[tuple[str, ...]], row: Sequence[str]) -> str:
    """Window and prices, each below the others."""
    sizes = [max(len(each[n]) for each in (*(r[2:5] for r in rows), HEADS)) for n in range(3)]
    return "   ".join(text.rjust(size) for text, size in zip(row, sizes, strict=True))


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


async def effort(
    book: ModelBook, in_use: InUse, ultracode: Callable[[], bool], context: CommandContext
) -> Outcome:
    args = context.args
    level = args.lower()
    if level == AUTO:
        return Change(SetEffort(""))
    if level in LADDER:
        return Change(SetEffort(level))
    levels = book.facts(in_use.name).efforts
    more = (ULTRACODE,) if HIGHEST in levels and ultracode() else ()
    if level in more:
        return Change(_effort(level), (Text(AGREED, "dim"),))
    if args:
        return Problem.of(f"/effort takes one of {', '.join((AUTO, *(levels or LADDER), *more))}.")
    if not levels:
        return Say.text(f"{in_use.name or 'No model'} has no levels of effort to choose from.")
    current = book.effort(in_use.name, in_use.effort)
    rows = [
        ("" if current else "*", AUTO, "what your settings say, else the model itself"),
        *(("*" if current == name else "", name, _means(name, levels)) for name in levels),
        *(("", name, f"{HIGHEST}, and workflows wherever it sees fit") for name in more),
    ]
    hint = Text("/effort LEVEL switches, from the next turn on.", "dim")

    async def choose(name: str) -> Outcome:
        return Change(_effort(name), (Text(AGREED, "dim"),) if name in more else ())

    return Pick(
        fallback=Say((Table(("", "Effort", ""), tuple(rows)), hint)),
        title="Effort",
        choices=tuple(
            Choice(name, name, means, "in use" if mark else "", f"/effort {name}")
            for mark, name, means in rows
        ),
        choose=choose,
        at=next((n for n, row in enumerate(rows) if row[0]), 0),
    )


def _effort(name: str) -> SetEffort:
    if name == ULTRACODE:
        return SetEffort(HIGHEST, ultracode=True)
    return SetEffort("" if name == AUTO else name)


def _means(level: str, levels: tuple[str, ...]) -> str:
    if level == levels[0]:
        return "quickest and cheapest"
    return "most thorough" if level == levels[-1] else ""


async def login(book: ModelBook, in_use: InUse, context: CommandContext) -> Outcome:
    args = context.args
    if " " in args:
        return Problem.of(IN_PROMPT)
    try:
        places = book.key_places()
    except GatewrightError as error:
        return Problem.of(str(error))
    if not args:
        rows = tuple((place.provider, place.found or "none", place.page) for place in places)
        table = Table(("Provider", "Key", "Where to get one"), rows)
        return Pick(
            fallback=Say((table, Text("/login PROVIDER goes on.", "dim"))),
            title="Store a key for",
            choices=tuple(map(provider_choice, _once(places))),
            choose=lambda name: login(book, in_use, CommandContext(args=name)),
        )
    place = next((place for place in places if place.provider == args), None)
    if place is None:
        names = ", ".join(place.provider for place in places)
        return Problem.of(f"There is no provider {args} that takes a key: {names}.")
    return _asked(place, book, lacking=book.lacks(in_use.name))


def _once(places: Sequence[KeyPlace]) -> Sequence[KeyPlace]:
    """Without further APIs of a provider, which take the key that it has."""
    first = {place.variable: place for place in reversed(places) if place.variable}
    return [each for each in places if first.get(each.variable, each) is each]


def provider_choice(place: KeyPlace) -> Choice:
    name, has = place.provider, f"has one: {place.found}" if place.found else ""
    return Choice(name, name, has, place.page, f"/login {name}")


def _asked(place: KeyPlace, book: ModelBook, *, lacking: bool) -> Secret:
    name = place.provider

    async def take(key: str) -> Outcome:
        try:
            untried = await book.check(name, key)
            where = await asyncio.to_thread(book.keep, name, key)
        except GatewrightError as error:
            wrong = Problem.of(f"{error} Try again, or leave with Esc.")
            return replace(secret, told=wrong.blocks)
        doubt = f" Whether it works is not known: {untried}." if untried else ""
        counts = "and counts from the next message on"
        if place.found and place.found == place.variable:
            counts = f"but {place.variable} is set and comes before it: unset that to use this one"
        said = Say.text(
            f"The key for {name} is kept in {where} {counts}.{doubt} "
            f"/model chooses one of its models, and until then what answers now goes on; "
            f"/logout {name} forgets the key."
        )
        usual = book.usual(name) if lacking else ""
        return Change(SetModel(usual), said.blocks) if usual else said

    lines = [f"Make a key at {place.page}"] if place.page else []
    if place.found:
        lines.append(f"There is one already: {place.found}.")
        if place.found == place.variable:
            lines.append(f"{place.variable} comes before a stored key.")
    elif place.variable:
        lines.append(f"{place.variable} in the environment works as well.")
    run = f"Run `agent login {name}` in a terminal; it asks for the key without showing it."
    secret = Secret(
        title=f"Key for {name}",
        fallback=Say.text("\n".join([*lines, run])),
        about=tuple(lines),
        take=take,
    )
    return secret


async def logout(book: ModelBook, in_use: InUse, context: CommandContext) -> Outcome:
    try:
        if context.args:
            return Say.text(await _forgotten(context.args, book))
        stored = book.stored()
    except GatewrightError as error:
        return Problem.of(str(error))
    if not stored:
        return Say.text("No key is stored. Keys in the environment are not ours to forget.")
    table = Table(("Stored key",), tuple((name,) for name in stored))
    return Pick(
        fallback=Say((table, Text("/logout PROVIDER forgets it.", "dim"))),
        title="Forget the key for",
        choices=tuple(Choice(name, name, typed=f"/logout {name}") for name in stored),
        choose=lambda name: logout(book, in_use, CommandContext(args=name)),
    )


async def _forgotten(provider: str, book: ModelBook) -> str:
    if not await asyncio.to_thread(book.forget, provider):
        return f"No key for {provider} is stored."
    left = next((p.found for p in book.key_places() if p.provider == provider), "")
    rest = f" Another one is still found: {left}." if left else ""
    return f"The key for {provider} is forgotten.{rest}"
