"""`agent doctor`: run the checks and print them; exit code 1 when something is broken."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from gatewright.agent.clock import SystemClock
from gatewright.agent.doctor import Finding, Health, Machine, examine
from gatewright.agent.probe import Probed, probe
from gatewright.agent.providers.catalog import load_catalog
from gatewright.agent.providers.keys import key_store
from gatewright.agent.providers.presets import endpoint, load_presets
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.subcommands.place import here
from gatewright.tools.rg import locate

MARKS = {
    Health.GOOD: ("ok", typer.colors.GREEN),
    Health.WARN: ("!!", typer.colors.YELLOW),
    Health.BAD: ("XX", typer.colors.RED),
}


Provider = Annotated[
    str, typer.Option("--provider", help="Try this provider, or provider/model, with a request.")
]


def register(app: typer.Typer) -> None:
    app.command(name="doctor", help="Check this machine and say what to do.")(doctor)


def doctor(provider: Provider = "") -> None:
    if provider:
        _try(provider)
        return
    place = here()
    machine = Machine(
        env=os.environ,
        places=place.places,
        trusted=place.trusted,
        loaded=place.loaded,
        key_variables=key_variables(),
        stored_keys=key_store(os.environ).names(),
        ripgrep=locate(place.places.root),
    )
    broken = False
    for finding in examine(machine):
        _show(finding)
        broken = broken or finding.health is Health.BAD
    if broken:
        raise typer.Exit(1)


def key_variables() -> list[str]:
    """The variables that the known providers read their keys from."""
    presets = load_presets().values()
    names = [name for preset in presets for name in (preset.api_key_env, preset.token_env)]
    return list(dict.fromkeys(name for name in names if name))


def _try(name: str) -> None:
    """Send one tiny request, and say what happened; errors are said by the entry."""
    place = here()
    settings = place.loaded.settings.providers
    tier = load_catalog().tier(name, "small")
    opened = open_provider(f"{name}/{tier}" if tier else name, settings=settings, env=os.environ)

    async def run() -> Probed:
        try:
            return await probe(opened.provider, opened.model, SystemClock())
        finally:
            await opened.provider.close()

    found = asyncio.run(run())
    if "/" not in name:
        server = endpoint(name, settings, os.environ)
        _show(Finding("Address", Health.GOOD, server.base_url or server.type))
    fact = f"{opened.name} began after {found.first} ms, ended after {found.total} ms"
    _show(Finding("Answer", Health.GOOD, fact))


def _show(finding: Finding) -> None:
    mark, color = MARKS[finding.health]
    typer.echo(f"{typer.style(mark, fg=color)}  {finding.name.ljust(10)} {finding.fact}")
    if finding.advice:
        typer.echo(f"    {' ' * 10} {finding.advice}")
