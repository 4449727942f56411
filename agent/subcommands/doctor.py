"""`agent doctor`: run the checks and print them; exit code 1 when something is broken."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from gatewright.agent.clock import SystemClock
from gatewright.agent.doctor import Finding, Health, Machine, examine
from gatewright.agent.providers.catalog import load_catalog
from gatewright.agent.providers.keys import key_store
from gatewright.agent.providers.listing import local_servers
from gatewright.agent.providers.presets import endpoint, load_presets
from gatewright.agent.providers.probe import Finding as Probed
from gatewright.agent.providers.probe import probe
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.sources import Loaded
from gatewright.agent.subcommands.place import here
from gatewright.permissions.sandbox.machine import machine as sandbox_machine
from gatewright.permissions.sandbox.probe import probe as sandbox
from gatewright.tools.rg import locate

MARKS = {
    Health.GOOD: ("ok", typer.colors.GREEN),
    Health.WARN: ("!!", typer.colors.YELLOW),
    Health.BAD: ("XX", typer.colors.RED),
}


Provider = Annotated[str, typer.Option("--provider", help="Try this provider, or provider/model.")]


def register(app: typer.Typer) -> None:
    app.command(name="doctor", help="Check this machine and say what to do.")(doctor)


def doctor(provider: Provider = "") -> None:
    if provider:
        _try(provider)
        return
    place = here()
    broken = False
    for finding in findings(place.places, place.loaded, os.environ, trusted=place.trusted):
        _show(finding)
        broken = broken or finding.health is Health.BAD
    if broken:
        raise typer.Exit(1)


def findings(
    places: Places, loaded: Loaded, env: Mapping[str, str], *, trusted: bool
) -> Iterator[Finding]:
    """Takes a second or two; must not run on an event loop."""
    confined = sandbox(sandbox_machine())
    yield from examine(
        Machine(
            env=env,
            places=places,
            trusted=trusted,
            loaded=loaded,
            key_variables=key_variables(),
            stored_keys=key_store(env).names(),
            local=asyncio.run(local_servers(loaded.settings.providers, env)),
            sandbox=confined.level,
            sandbox_why=confined.why,
            ripgrep=locate(places.root),
        )
    )


def key_variables() -> list[str]:
    """The variables that the known providers read their keys from."""
    presets = load_presets().values()
    names = [name for preset in presets for name in (preset.api_key_env, preset.token_env)]
    return list(dict.fromkeys(name for name in names if name))


def _try(name: str) -> None:
    """Send a few tiny requests, and say what works; the entry says why nothing answers."""
    place = here()
    settings = place.loaded.settings.providers
    tier = load_catalog().tier(name, "small")
    model = f"{name}/{tier}" if tier else name
    if tier:
        server = endpoint(name, settings, os.environ)
        _show(Finding("Address", Health.GOOD, server.base_url or server.type))

    async def run() -> None:
        found = probe(model, settings=settings, env=os.environ, clock=SystemClock().monotonic)
        async for one in found:
            _show(_finding(one))

    asyncio.run(run())


def _finding(found: Probed) -> Finding:
    health = Health.BAD if found.ok is False else Health.GOOD if found.ok else Health.WARN
    fact = f"{found.detail} ({found.ms} ms)" if found.ms else found.detail
    return Finding(found.what.capitalize(), health, fact)


def _show(finding: Finding) -> None:
    mark, color = MARKS[finding.health]
    typer.echo(f"{typer.style(mark, fg=color)}  {finding.name.ljust(10)} {finding.fact}")
    if finding.advice:
        typer.echo(f"    {' ' * 10} {finding.advice}")
