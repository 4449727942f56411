"""`agent plugin marketplace`: add, list, refresh and remove lists of plugins; and what installs
and updates plugins from them.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.plugins.consent import Agreed
from gatewright.agent.plugins.installing import Installed
from gatewright.agent.plugins.marketplaces.adding import market_source
from gatewright.agent.plugins.marketplaces.getting import Getting
from gatewright.agent.plugins.marketplaces.market import Market
from gatewright.agent.plugins.marketplaces.updating import Updated, update
from gatewright.agent.plugins.record import LOCAL, Record, id_of
from gatewright.agent.plugins.sources.source import FileSource, LocalSource, Source, typed
from gatewright.agent.settings.traits import Source as Layer
from gatewright.agent.subcommands.place import Here, here, refuse_inside_session
from gatewright.agent.subcommands.plugins.plugin_consent import asking, replacing, shown
from gatewright.agent.subcommands.plugins.plugin_reach import getting
from gatewright.agent.subcommands.tell import give, tell
from gatewright.tools.counted import counted

HELP = "Marketplaces: lists of plugins that you added."
group = typer.Typer(help=HELP, no_args_is_help=True)

_NAMED: Final = re.compile(r"[A-Za-z0-9._-]*[A-Za-z0-9_-](?:@[A-Za-z0-9._-]+)?")
NAMED: Final = 50  # plugins of one that are listed

Name = Annotated[str, typer.Argument(help="What the marketplace is called.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Agree beforehand.")]


@group.command()
def add(
    source: Annotated[
        str,
        typer.Argument(
            help="owner/repo, an address, a directory or a marketplace.json.", metavar="SOURCE"
        ),
    ],
    yes: Yes = False,
) -> None:
    """Add a marketplace: what it lists is fetched, and nothing of it is installed."""
    refuse_inside_session()
    at = here()
    offers = at.loaded.settings.extra_known_marketplaces
    if source in offers:
        found, file = market_source(offers[source], os.environ, at.places.root)
        wanted = source
    else:
        found, file, wanted = typed(source, os.environ, Path.cwd()), "", ""
    adding = getting(at).adding
    tell(f"From {found.said()}")
    seen = asyncio.run(adding.add(found, replacing(yes=yes), file=file, name=wanted))
    _told(seen.market)
    tell(f"{seen.known.name} is added: {counted(len(seen.market.entries), 'plugin')}.")
    tell(f"agent plugin install NAME@{seen.known.name} installs one.")


@group.command(name="list")
def list_(as_json: AsJson = False) -> None:
    """List the marketplaces that were added, and what they offer."""
    at = here()
    reach = getting(at)
    every, there = reach.adding.markets.every(), reach.offered()
    lists = {known.name: market for known, market in there.markets}
    problems = dict(there.problems)
    rows: list[dict[str, Any]] = [
        {
            "name": known.name,
            "source": known.said,
            "resolved": known.resolved,
            "updatedAt": known.updated_at,
            "plugins": [entry.name for entry in lists[known.name].entries]
            if known.name in lists
            else [],
            "problem": problems.get(known.name, ""),
        }
        for known in every.values()
    ]
    if as_json:
        give(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    for row in rows:
        at_ = f" at {row['resolved'][:12]}" if row["resolved"] else ""
        tell(f"{row['name']}: {row['source']}{at_}, {counted(len(row['plugins']), 'plugin')}")
        for name in row["plugins"][:NAMED]:
            tell(f"    {name}")
        if (more := len(row["plugins"]) - NAMED) > 0:
            tell(f"    and {more} more: /plugin in a session looks through them")
        if row["problem"]:
            tell(f"    {row['problem']}")
    _offers(at, frozenset(every))
    if not rows:
        tell("No marketplace was added. agent plugin marketplace add SOURCE adds one.")


@group.command(name="update")
def update_(
    names: Annotated[list[str] | None, typer.Argument(help="Which; all otherwise.")] = None,
) -> None:
    """Fetch what marketplaces list now; no plugin changes by that."""
    refuse_inside_session()
    reach = getting(here())
    every = reach.adding.markets.every()
    for name in names or ():
        reach.adding.markets.find(name)
    failed = False
    for known in every.values():
        if names and known.name not in names:
            continue
        try:
            seen = asyncio.run(reach.adding.refresh(known))
        except GatewrightError as error:
            failed = True
            tell(f"{error} It stays as it was.", err=True)
            continue
        _told(seen.market)
        what = "lists something new" if seen.new else "is as it was"
        tell(f"{known.name} {what}: {counted(len(seen.market.entries), 'plugin')}.")
    if not every:
        tell("No marketplace was added.")
    if failed:
        raise typer.Exit(1)


@group.command()
def remove(name: Name) -> None:
    """Remove a marketplace; plugins that were installed from it stay."""
    refuse_inside_session()
    reach = getting(here())
    reach.adding.markets.find(name)
    reach.adding.markets.drop(name)
    tell(f"{name} is removed.")
    left = [each.id for each in _records(reach) if each.market == name]
    if left:
        tell(f"Still installed, and not updated any more: {', '.join(left)}.")


def install_from(text: str, *, sha: str = "", yes: bool = False) -> Installed:
    """NAME[@MARKET] or an address; a directory is not for here. Raises GatewrightError."""
    at = here()
    reach, agreed = getting(at), asking(yes=yes)
    source = source_of(text, sha)
    if source is None:
        _, market = id_of(text)
        named = at.loaded.settings.extra_known_marketplaces
        if market in named and market not in reach.adding.markets.every():
            raise UsageError(f"First: agent plugin marketplace add {market}")
        return asyncio.run(reach.install(text, agreed, sha=sha))
    return asyncio.run(reach.direct(source, agreed))


def source_of(text: str, sha: str = "") -> Source | None:
    """The address or directory that is meant; None for what is the name of a plugin."""
    if _NAMED.fullmatch(text):
        return None
    found = typed(text, os.environ, Path.cwd(), sha=sha)
    if isinstance(found, FileSource):
        raise UsageError(f"{text} is a marketplace: agent plugin marketplace add {text} adds it.")
    return found


def is_directory(text: str) -> bool:
    """Whether a plugin's own directory is meant."""
    return isinstance(source_of(text), LocalSource)


def update_plugins(names: Sequence[str], *, every: bool, yes: bool) -> list[Updated]:
    """Of these plugins, or all. Raises UsageError for one that is not installed."""
    refuse_inside_session()
    at = here()
    reach = getting(at)
    chosen = _chosen(reach, names, every=every)
    settings = at.places.file(Layer.USER)
    assert settings is not None
    agreed: Agreed = shown(asking(yes=yes))
    return asyncio.run(update(reach, chosen, agreed, settings))


def _chosen(reach: Getting, names: Sequence[str], *, every: bool) -> list[Record]:
    installed = _records(reach)
    if not names and not every:
        raise UsageError("Name a plugin, or say --all.")
    if every:
        return [each for each in installed if each.market != LOCAL]
    found: list[Record] = []
    for text in names:
        name, market = id_of(text)
        meant = [each for each in installed if each.name == name and market in ("", each.market)]
        if not meant:
            raise UsageError(f"{text} is not installed.")
        found += meant
    return found


def _records(reach: Getting) -> list[Record]:
    return [*reach.adding.store.lock.read().plugins.values()]


def _told(market: Market) -> None:
    for warning in market.warnings:
        tell(f"!!  {market.name}: {warning}.", err=True)
    broken = [entry for entry in market.entries if entry.problem]
    for entry in broken[:10]:
        tell(f"!!  {entry.name}: {entry.problem}", err=True)
    if len(broken) > 10:
        tell(f"!!  and {len(broken) - 10} more that cannot be installed.", err=True)


def _offers(at: Here, known: frozenset[str]) -> None:
    """What settings name and nobody has added yet; of a project that is trusted too."""
    for name, raw in at.loaded.settings.extra_known_marketplaces.items():
        if name not in known:
            try:
                source, _ = market_source(raw, os.environ, at.places.root)
            except GatewrightError as error:
                tell(f"!!  {name} is named in settings, and cannot be added: {error}", err=True)
                continue
            tell(f"{name} ({source.said()}) is named in settings:")
            tell(f"    agent plugin marketplace add {name} adds it")
