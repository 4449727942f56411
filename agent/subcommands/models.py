"""`agent models`: what is known of models, and which have a key here."""

from __future__ import annotations

import json
import os
from typing import Annotated

import msgspec
import typer

from gatewright.agent.providers.catalog import ModelFacts, load_catalog
from gatewright.agent.providers.keys import key_store
from gatewright.agent.providers.registry import has_key
from gatewright.agent.subcommands.place import here
from gatewright.agent.subcommands.tell import tell
from gatewright.tools.blocks import Table, plain

Provider = Annotated[str, typer.Argument(help="Only this provider's models.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print all facts as JSON.")]
HEAD = ("Model", "Window", "Output", "$ in", "$ out", "Alias", "Key")


def register(app: typer.Typer) -> None:
    app.command(name="models", help="List the models that are known.")(models)


def models(provider: Provider = "", as_json: AsJson = False) -> None:
    """Prices are dollars per million tokens."""
    catalog = load_catalog()
    found = {
        name: facts
        for name, facts in sorted(catalog.models.items())
        if not provider or name.partition("/")[0] == provider
    }
    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(found), indent=2))
        return
    if not found:
        known = dict.fromkeys(name.partition("/")[0] for name in catalog.models)
        tell(f"No models of {provider} are known. Providers: {', '.join(known)}.", err=True)
        raise typer.Exit(1)
    aliases = {
        f"{owner}/{model}": tier
        for owner, tiers in catalog.tiers.items()
        for tier, model in tiers.items()
    }
    owners = {name.partition("/")[0] for name in found}
    keys = {owner for owner in owners if _has_key(owner)}
    rows = tuple(
        (*_row(name, facts), aliases.get(name, ""), "yes" if name.partition("/")[0] in keys else "")
        for name, facts in found.items()
    )
    tell(plain(Table(HEAD, rows)))


def _row(name: str, facts: ModelFacts) -> tuple[str, ...]:
    priced = facts.input or facts.output
    return (
        name,
        f"{facts.window // 1000}k",
        f"{facts.max_output // 1000}k",
        f"{facts.input:g}" if priced else "-",
        f"{facts.output:g}" if priced else "-",
    )


def _has_key(provider: str) -> bool:
    settings = here().loaded.settings.providers
    stored = key_store(os.environ).names()
    return provider in stored or has_key(provider, settings, os.environ)
