"""`agent schema`: the JSON Schemas of what the program reads and writes."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gatewright.agent.settings.schema import Settings

FOLDER = Path(__file__).parents[1] / "schemas"


class Name(StrEnum):
    SETTINGS = "settings"
    OUTPUT = "stream-json"
    INPUT = "stream-json-input"


Which = Annotated[Name, typer.Argument(help="Settings files, or lines out of or into print mode.")]


def register(app: typer.Typer) -> None:
    app.command(name="schema", help="Print a JSON Schema.")(schema)


def schema(name: Which) -> None:
    typer.echo(json.dumps(document(name), indent=2))


def document(name: Name) -> dict[str, Any]:
    if name is Name.SETTINGS:
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        return {**head, **msgspec.json.schema(Settings)}
    return msgspec.json.decode((FOLDER / f"{name}.json").read_bytes(), type=dict[str, Any])
