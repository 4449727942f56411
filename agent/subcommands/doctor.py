"""`agent doctor`: run the checks and print them; exit code 1 when something is broken."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import typer

from gatewright.agent.doctor import Finding, Health, Machine, examine
from gatewright.agent.subcommands.place import here
from gatewright.tools.rg import locate

MARKS = {
    Health.GOOD: ("ok", typer.colors.GREEN),
    Health.WARN: ("!!", typer.colors.YELLOW),
    Health.BAD: ("XX", typer.colors.RED),
}


def register(app: typer.Typer) -> None:
    app.command(name="doctor", help="Check this machine and say what to do.")(doctor)


def doctor() -> None:
    place = here()
    machine = Machine(
        env=os.environ,
        places=place.places,
        trusted=place.trusted,
        loaded=place.loaded,
        key_variables=key_variables(),
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
    file = Path(__file__).parents[1] / "providers" / "presets.json"
    presets: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    names = [preset.get("apiKeyEnv", "") for preset in presets.values()]
    return list(dict.fromkeys(name for name in names if name))


def _show(finding: Finding) -> None:
    mark, color = MARKS[finding.health]
    typer.echo(f"{typer.style(mark, fg=color)}  {finding.name.ljust(10)} {finding.fact}")
    if finding.advice:
        typer.echo(f"    {' ' * 10} {finding.advice}")
