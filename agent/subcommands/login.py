"""`agent login`: keep a provider's key in the system's keyring, or in a private file."""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.exits import BadInput
from gatewright.agent.providers.keys.stored_keys import key_store
from gatewright.agent.providers.listing import try_key
from gatewright.agent.providers.presets import endpoint, load_presets
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.settings.session_secrets import providers_of
from gatewright.agent.subcommands.place import here, refuse_inside_session
from gatewright.agent.subcommands.tell import tell

MAX_KEY = 8192
Provider = Annotated[str, typer.Argument(help="The provider the key is for.")]
NoCheck = Annotated[bool, typer.Option("--no-check", help="Store it without trying it.")]


def register(app: typer.Typer) -> None:
    app.command(name="login", help="Keep a provider's key, typed in or piped in.")(login)


def login(provider: Provider = "anthropic", no_check: NoCheck = False) -> None:
    """The key is never an argument: those can be seen by every process of the machine."""
    refuse_inside_session()
    settings = providers_of(here().loaded.settings)
    known_provider(provider, settings)
    key = _key(provider)
    untried = "it was not tried"
    if not no_check:
        server = endpoint(provider, settings, os.environ)
        untried = asyncio.run(try_key(server, key, os.environ))
    place = key_store(os.environ).put(provider, key)
    where = "the system's keyring" if place == "keyring" else "a file only you can read"
    tried = f"Whether it works is not known: {untried}." if untried else "It works."
    tell(f"The key for {provider} is kept in {where}. {tried}")
    tell(f"agent doctor --provider {provider} tries what works with it; agent logout forgets it.")


def known_provider(name: str, settings: Mapping[str, ProviderSettings]) -> None:
    """Raises GatewrightError for a provider nobody has described."""
    known = {**load_presets(), **settings}
    if name not in known:
        raise GatewrightError(f"There is no provider {name}. Known: {', '.join(known)}.")


def _key(provider: str) -> str:
    if sys.stdin.isatty():
        key = getpass.getpass(f"Key for {provider} (it is not shown): ")
    else:
        key = sys.stdin.readline(MAX_KEY)
    key = key.strip()
    if not key or any(char.isspace() or not char.isprintable() for char in key):
        raise BadInput("That is no key: give one line without spaces.")
    return key
