"""/plugin: what marketplaces offer, what is installed, what is wrong; install, update, switch.

It only says what is wanted: a plugin counts after the question that shows all of it that can act.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final, Protocol

from gatewright.agent.commands.outcome import (
    Act,
    Choice,
    Listing,
    Outcome,
    Page,
    Pick,
    Problem,
    Say,
)
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.panel.plugin_rows import (
    INSTALLED,
    TABS,
    Overview,
    about_entry,
    about_market,
    about_record,
    choices,
    found,
    table,
)
from gatewright.tools.blocks import Block, Table, Text

USAGE: Final = (
    "Usage: /plugin [discover WORDS | info NAME | install NAME@MARKETPLACE | update [NAME] | "
    "enable NAME | disable NAME | uninstall NAME | errors | marketplace [add SOURCE | update "
    "[NAME] | remove NAME]]"
)
NOTHING: Final = (
    "No plugin is installed, and no marketplace was added. /plugin marketplace add SOURCE adds "
    "one: owner/repo, an address or a directory."
)
GONE: Final = "It is gone."
ALL: Final = "all"


class PluginBook(Protocol):
    """What a session knows of plugins, and how it gets others. All but `overview` may take long:
    they answer at once with what they do, and tell how it went.
    """

    def overview(self) -> Overview:
        """Reads files. Raises GatewrightError."""
        ...

    def install(self, name: str) -> str: ...
    def update(self, name: str) -> str: ...
    def add_market(self, source: str) -> str: ...
    def refresh(self, name: str) -> str: ...
    async def remove_market(self, name: str) -> str: ...
    async def switch(self, id: str, *, on: bool) -> str: ...
    async def uninstall(self, id: str) -> str: ...


async def plugins(book: PluginBook, context: CommandContext) -> Outcome:
    verb, _, rest = context.args.strip().partition(" ")
    rest = rest.strip()
    try:
        seen = await asyncio.to_thread(book.overview)
        match verb:
            case "" | "list":
                return listing(book, seen)
            case "discover" | "search":
                return Say(tuple(found(seen, rest)))
            case "errors":
                return Say(tuple(_errors(seen)))
            case "marketplace" | "market":
                return await _market(book, seen, rest)
            case "update":
                return Say.text(book.update(rest or ALL))
            case _ if rest:
                return await _one(book, seen, verb, rest)
            case _:
                return Problem.of(USAGE)
    except GatewrightError as error:
        return Problem.of(str(error))


async def _one(book: PluginBook, seen: Overview, verb: str, name: str) -> Outcome:
    if verb == "install":
        return Say.text(book.install(name))
    record = seen.record(name)
    if verb == "info":
        return Say(tuple(_info(seen, name)))
    if verb not in ("enable", "disable", "uninstall"):
        return Problem.of(USAGE)
    if record is None:
        return Problem.of(f"There is no plugin {name} installed. /plugin shows what is.")
    if verb == "uninstall":
        return Say.text(await book.uninstall(record.id))
    return Say.text(await book.switch(record.id, on=verb == "enable"))


async def _market(book: PluginBook, seen: Overview, rest: str) -> Outcome:
    verb, _, name = rest.partition(" ")
    name = name.strip()
    match verb:
        case "" | "list":
            return listing(book, seen)
        case "add" if name:
            return Say.text(book.add_market(name))
        case "update":
            return Say.text(book.refresh(name or ALL))
        case "remove" | "rm" if name:
            return Say.text(await book.remove_market(name))
        case _ if not name:
            return Say(tuple(_about_market(seen, verb)))
        case _:
            return Problem.of(USAGE)


def listing(book: PluginBook, seen: Overview) -> Outcome:
    """Four lists, in the order in which they matter to whoever has none, or some."""
    rows = choices(seen)
    if not rows:
        return Page.text("Plugins", NOTHING)

    async def read(id: str) -> Sequence[Block]:
        now = await asyncio.to_thread(book.overview)
        return _about(now, id)

    first = INSTALLED if seen.installed else ""
    return Listing(
        fallback=Say((table(rows), Text(USAGE, "dim"))),
        title="Plugins",
        rows=lambda: rows,
        read=read,
        tabs=tuple(sorted((tab for tab in TABS if _any(rows, tab)), key=lambda tab: tab != first)),
        acts=(
            Act("ctrl+y", "installs it, or takes what is newer", partial(_get, book)),
            Act("ctrl+o", "off or on", partial(_switch, book)),
            Act("ctrl+x", "removes it", partial(_remove, book)),
        ),
    )


def _any(rows: Sequence[Choice], tab: str) -> bool:
    return any(row.source == tab for row in rows)


async def _get(book: PluginBook, id: str) -> Outcome:
    kind, _, name = id.partition(" ")
    match kind:
        case "entry":
            return Say.text(book.install(name))
        case "plugin":
            return Say.text(book.update(name))
        case "market":
            return Say.text(book.refresh(name))
        case "proposed":
            return Say.text(book.add_market(name))
        case _:
            return Problem.of("This is what is wrong; enter shows all of it.")


async def _switch(book: PluginBook, id: str) -> Outcome:
    kind, _, name = id.partition(" ")
    if kind != "plugin":
        return Problem.of("Only an installed plugin is on or off.")
    try:
        seen = await asyncio.to_thread(book.overview)
        return Say.text(await book.switch(name, on=seen.states.get(name) != "on"))
    except GatewrightError as error:
        return Problem.of(str(error))


async def _remove(book: PluginBook, id: str) -> Outcome:
    kind, _, name = id.partition(" ")
    if kind not in ("plugin", "market"):
        return Problem.of("Only installed plugins and added marketplaces are removed.")

    async def choose(said: str) -> Outcome:
        try:
            if said != "yes":
                return Say.text(f"{name} stays.")
            work = book.uninstall if kind == "plugin" else book.remove_market
            return Say.text(await work(name))
        except GatewrightError as error:
            return Problem.of(str(error))

    about = (
        "What it stored and was told goes too."
        if kind == "plugin"
        else "Its plugins stay installed."
    )
    line = "uninstall" if kind == "plugin" else "marketplace remove"
    return Pick(
        fallback=Say.text(f"/plugin {line} {name} removes it."),
        title=f"Remove {name}?",
        about=(about,),
        choices=(Choice("no", "Keep it"), Choice("yes", "Remove it")),
        choose=choose,
    )


def _info(seen: Overview, name: str) -> Sequence[Block]:
    if (record := seen.record(name)) is not None:
        return about_record(record, seen)
    if (pair := seen.entry(name)) is not None:
        return about_entry(*pair)
    return (Text(f"There is no plugin {name} here, nor in any marketplace.", "warning"),)


def _about(seen: Overview, id: str) -> Sequence[Block]:
    kind, _, name = id.partition(" ")
    match kind:
        case "entry":
            pair = seen.entry(name)
            return about_entry(*pair) if pair is not None else (Text(GONE, "warning"),)
        case "plugin":
            record = seen.record(name)
            return about_record(record, seen) if record is not None else (Text(GONE, "warning"),)
        case "market":
            return _about_market(seen, name)
        case "proposed":
            said = seen.proposed.get(name, "")
            return (Text(f"Settings name {name}: {said}\n/plugin marketplace add {name} adds it."),)
        case _:
            return _errors(seen)


def _about_market(seen: Overview, name: str) -> Sequence[Block]:
    for known, market in seen.offered.markets:
        if known.name == name:
            return about_market(known, market)
    why = dict(seen.offered.problems).get(name, "")
    return (Text(why or f"There is no marketplace {name}. {USAGE}", "warning"),)


def _errors(seen: Overview) -> Sequence[Block]:
    rows = tuple(seen.problems())
    return (Table(("Whose", "What"), rows),) if rows else (Text("Nothing is wrong.", "dim"),)
