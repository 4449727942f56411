"""`agent logout`: forget a stored key."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from gatewright.agent.providers.keys.stored_keys import key_store

Provider = Annotated[str, typer.Argument(help="The provider whose key is forgotten.")]


def register(app: typer.Typer) -> None:
    app.command(name="logout", help="Forget a stored key.")(logout)


def logout(provider: Provider = "anthropic") -> None:
    if key_store(os.environ).drop(provider):
        typer.echo(f"The key for {provider} is forgotten.")
    else:
        typer.echo(f"No key for {provider} was stored.")
