"""`agent doctor`: run the checks and print them; exit code 1 when something is broken."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from gatewright.agent.commands.panels import Check, Finding, Health
from gatewright.agent.launch import doctor_checks as examine
from gatewright.agent.providers.catalog import load_catalog
from gatewright.agent.providers.keys.stored_keys import key_store
from gatewright.agent.providers.listing import local_servers
from gatewright.agent.providers.presets import endpoint, load_presets
from gatewright.agent.providers.probe import Finding as Probed
from gatewright.agent.providers.probe import probe
from gatewright.agent.record.clock import SystemClock
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.policy_settings import rules_of
from gatewright.agent.subcommands.place import here
from gatewright.agent.text.printable import visible
from gatewright.permissions.rulebook.known_tools import remarks
from gatewright.permissions.rulebook.rules import rule_set
from gatewright.permissions.sandbox.machine import machine as sandbox_machine
from gatewright.permissions.sandbox.probe import probe as sandbox
from gatewright.tools.search.rg import locate
from gatewright.tools.system.git import Caller
from gatewright.tools.system.programs import search_path

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
    for check in checks(place.places, place.loaded, os.environ, trusted=place.trusted):
        for finding in check.run():
            _show(finding)
            broken = broken or finding.health == Health.BAD
    if broken:
        raise typer.Exit(1)


def checks(
    places: Places, loaded: Loaded, env: Mapping[str, str], *, trusted: bool
) -> tuple[Check, ...]:
    """Each may take seconds and must not run on an event loop."""
    settings = loaded.settings
    env, roots = {**env, **settings.env}, (places.root, Path.cwd())

    def confined() -> list[Finding]:
        found = sandbox(sandbox_machine())
        return [examine.sandbox(found.level, found.why)]

    def servers() -> list[Finding]:
        return list(examine.local(asyncio.run(local_servers(settings.providers, env))))

    def mcp() -> list[Finding]:
        from gatewright.agent.subcommands.questions.servers_here import ServersHere  # noqa: PLC0415  90 ms

        return list(examine.mcp_servers(ServersHere().standing()))

    def skills() -> list[Finding]:
        from gatewright.agent.subcommands.skills.skills_here import SkillsHere  # noqa: PLC0415  90 ms

        return list(examine.skills(*SkillsHere().standing()))

    def plugins() -> list[Finding]:
        from gatewright.agent.plugins.enabled import any_named  # noqa: PLC0415  with plugins alone

        if not any_named(loaded):
            return []
        from gatewright.agent.subcommands.plugins.plugins_here import PluginsHere  # noqa: PLC0415  90 ms

        rows = [(each.id, each.state, each.why) for each in PluginsHere().rows()]
        return list(examine.plugins(rows))

    def keys() -> list[Finding]:
        return [examine.keys(settings, env, key_variables(), key_store(env).names())]

    return (
        Check("Python", lambda: [examine.python()]),
        Check("Terminal", lambda: [examine.terminal(env)]),
        Check("Locale", lambda: [examine.encoding(env)]),
        Check("Keys", keys),
        Check("Local", servers),
        Check("MCP", mcp),
        Check("ripgrep", lambda: [examine.ripgrep(locate(places.root))]),
        Check("git", lambda: [examine.git(Caller(env, roots))]),
        Check("PATH", lambda: [examine.search(search_path(env, roots, activated=trusted))]),
        Check("Sandbox", confined),
        Check("Own files", lambda: [examine.home(places.home)]),
        Check("Project", lambda: [examine.project(places.root, trusted=trusted)]),
        Check("Settings", lambda: list(examine.settings(loaded))),
        Check("Rules", lambda: _rules(loaded, trusted=trusted)),
        Check("Hooks", lambda: _hooks(loaded)),
        Check("Skills", skills),
        Check("Workflows", _workflows),
        Check("Plugins", plugins),
    )


def _workflows() -> list[Finding]:
    from gatewright.agent.subcommands.workflows.workflows_here import standing  # noqa: PLC0415  90 ms

    return list(examine.workflows(*standing()))


def _rules(loaded: Loaded, *, trusted: bool) -> list[Finding]:
    texts = rules_of(loaded)
    problems = remarks(texts, rule_set(texts, trusted=trusted).problems)
    return [Finding("Rules", Health.WARN, text, "Correct that rule.") for text in problems]


def _hooks(loaded: Loaded) -> list[Finding]:
    if not loaded.hooks:
        return []
    from gatewright.agent.subcommands.questions.hooks_here import HooksHere  # noqa: PLC0415  90 ms

    wrong = [fault for fault, runs in HooksHere().problems() if not runs]
    return [
        Finding("Hooks", Health.WARN, fault.text(), "agent hooks check says more.")
        for fault in wrong
    ]


def key_variables() -> list[str]:
    """The variables that the known providers read their keys from."""
    presets = load_presets().values()
    names = [name for preset in presets for name in preset.key_variables]
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

    async def run() -> bool:
        found = probe(model, settings=settings, env=os.environ, clock=SystemClock().monotonic)
        broken = False
        async for one in found:
            _show(_finding(one))
            broken = broken or one.ok is False
        return broken

    if asyncio.run(run()):
        raise typer.Exit(1)


def _finding(found: Probed) -> Finding:
    health = Health.BAD if found.ok is False else Health.GOOD if found.ok else Health.WARN
    fact = f"{found.detail} ({found.ms} ms)" if found.ms else found.detail
    return Finding(found.what.capitalize(), health, fact)


def _show(finding: Finding) -> None:
    mark, color = MARKS[Health(finding.health)]
    typer.echo(f"{typer.style(mark, fg=color)}  {finding.name.ljust(10)} {visible(finding.fact)}")
    if finding.advice:
        typer.echo(f"    {' ' * 10} {visible(finding.advice)}")
