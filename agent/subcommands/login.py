"""`agent login`: keep a provider's key in the system's keyring, or in a private file."""

from __future__ import annotations

import getpass
import os
import sys
from typing import Annotated

import typer

from gatewright.agent.errors import GatewrightError
from gatewright.agent.exits import BadInput
from gatewright.agent.providers.keys import key_store
from gatewright.agent.providers.presets import load_presets
from gatewright.agent.subcommands.place import here, refuse_inside_session

MAX_KEY = 8192
Provider = Annotated[str, typer.Argument(help="The provider the key is for.")]


def register(app: typer.Typer) -> None:
    app.command(name="login", help="Keep a provider's key, typed in or piped in.")(login)


def login(provider: Provider = "anthropic") -> None:
    """The key is never an argument: those can be seen by every process of the machine."""
    refuse_inside_session()
    known_provider(provider)
    key = _key(provider)
    place = key_store(os.environ).put(provider, key)
    where = "the system's keyring" if place == "keyring" else "a file only you can read"
    typer.echo(f"The key for {provider} is kept in {where}. agent doctor --provider {provider}")
    typer.echo("tries it; agent logout forgets it.")


def known_provider(name: str) -> None:
    """Raises GatewrightError for a provider nobody has described."""
    known = {**load_presets(), **here().loaded.settings.providers}
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
