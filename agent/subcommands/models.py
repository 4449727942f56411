"""`agent models`: what is known of models, what providers list, and where a key is found."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
import typer

from gatewright.agent.errors import GatewrightError, SettingsError
from gatewright.agent.providers.catalog import ModelFacts, load_catalog
from gatewright.agent.providers.keys.stored_keys import key_store
from gatewright.agent.providers.listed import model_lists
from gatewright.agent.providers.presets import Endpoint, endpoint, load_presets
from gatewright.agent.providers.registry import facts_of, key_source, provider_of
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.settings.session_secrets import providers_of
from gatewright.agent.subcommands.place import here
from gatewright.agent.subcommands.tell import tell
from gatewright.tools.blocks import Table, plain

Provider = Annotated[str, typer.Argument(help="Only this provider's models.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print all facts as JSON.")]
Refresh = Annotated[
    bool, typer.Option("--refresh", help="Ask providers for their lists, and keep them.")
]
HEAD = ("Model", "Window", "Output", "$ in", "$ out", "Alias", "Key")


def register(app: typer.Typer) -> None:
    app.command(name="models", help="List the models that are known.")(models)


def models(provider: Provider = "", as_json: AsJson = False, refresh: Refresh = False) -> None:
    """Prices are dollars per million tokens; the last column says where a key was found."""
    settings = providers_of(here().loaded.settings)
    provider = provider_of(provider) or provider
    servers = {server.name: server for server in _servers(settings)}
    stored = key_store(os.environ).names()
    keys = {name: key_source(one, os.environ, stored) for name, one in servers.items()}
    failed = refresh and not _refreshed(servers, keys, provider)
    found = {
        f"{server.name}/{model}": facts_of(server, os.environ)(model)
        for server in servers.values()
        if not provider or server.name == provider
        for model in sorted(_models(server))
    }
    if as_json:
        facts = {name: _told(name, one, keys) for name, one in found.items()}
        typer.echo(json.dumps(facts, indent=2))
    elif found:
        tell(plain(Table(HEAD, tuple(_row(name, one, keys) for name, one in found.items()))))
    elif not failed:
        listing = [name for name, server in servers.items() if any(_models(server))]
        tell(f"No models of {provider} are known. Known: {', '.join(listing)}.", err=True)
        if provider in servers:
            tell(f"agent models {provider} --refresh asks it for its list.", err=True)
        failed = True
    if failed:
        raise typer.Exit(1)


def _servers(settings: Mapping[str, ProviderSettings]) -> Iterator[Endpoint]:
    for name in dict.fromkeys([*load_presets(), *settings]):
        try:
            yield endpoint(name, settings, os.environ)
        except SettingsError as error:
            tell(str(error), err=True)


def _models(server: Endpoint) -> set[str]:
    """Described in the catalogue under this very provider, in settings, or listed by the server."""
    listed = {model.name for model in model_lists(os.environ).of(server.name, server.base_url)}
    if provider_of(server.catalog) != server.name:  # another way to models that are listed once
        return {*server.settings.models, *listed}
    prefix = f"{server.catalog}/"
    known = {key[len(prefix) :] for key in load_catalog().models if key.startswith(prefix)}
    return {*known, *server.settings.models, *listed}


def _refreshed(servers: Mapping[str, Endpoint], keys: Mapping[str, str], only: str) -> bool:
    """Ask who has a key and who runs on this machine, or the one that is named; say how it went."""
    asked = [
        server
        for server in servers.values()
        if server.transport == "http"
        and (server.name == only if only else keys[server.name] or server.local)
        and (only or provider_of(server.catalog) in (server.name, ""))
    ]
    if only and not asked:
        tell(f"{only} gives no list of its models.", err=True)
        return False
    return asyncio.run(_ask(asked, patient=bool(only)))


async def _ask(asked: list[Endpoint], *, patient: bool) -> bool:
    """False where none of them gave a list."""
    from gatewright.agent.providers.listing import describe_models  # noqa: PLC0415  lazy: asyncio

    lists = model_lists(os.environ)
    answers = [describe_models(server, os.environ) for server in asked]
    good = 0
    for server, told in zip(
        asked, await asyncio.gather(*answers, return_exceptions=True), strict=True
    ):
        if isinstance(told, GatewrightError):
            if patient or not server.local:  # of local servers, those that run are asked
                tell(f"{server.name}: {told}", err=True)
            continue
        if isinstance(told, BaseException):
            raise told
        lists.keep(server.name, server.base_url, told)
        tell(f"{server.name}: {len(told)} models", err=True)
        good += 1
    if not asked:
        tell("No provider has a key here: name one, or see agent login.", err=True)
    return good > 0


def _row(name: str, facts: ModelFacts, keys: Mapping[str, str]) -> tuple[str, ...]:
    provider = name.partition("/")[0]
    priced = facts.input or facts.output
    return (
        name,
        f"{facts.window // 1000}k",
        f"{facts.max_output // 1000}k",
        f"{facts.input:g}" if priced else "-",
        f"{facts.output:g}" if priced else "-",
        _alias(name),
        keys[provider],
    )


def _told(name: str, facts: ModelFacts, keys: Mapping[str, str]) -> dict[str, object]:
    """All facts; `key` is where one was found, never what it is."""
    known: dict[str, object] = msgspec.to_builtins(facts)
    return {**known, "key": keys[name.partition("/")[0]]}


def _alias(name: str) -> str:
    provider, _, model = name.partition("/")
    catalog = load_presets()[provider].catalog if provider in load_presets() else ""
    tiers = load_catalog().tiers.get(catalog or provider, {})
    return next((tier for tier, called in tiers.items() if called == model), "")
