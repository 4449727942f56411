"""`agent config`: read, explain and change settings from the command line."""

from __future__ import annotations

import json
from typing import Annotated, Any

import msgspec
import typer

from gatewright.agent.settings.dotted_key import check, facts, typed, value_at
from gatewright.agent.settings.edit import set_value
from gatewright.agent.settings.traits import Source
from gatewright.agent.subcommands.place import Scope, file_of, here, refuse_inside_session
from gatewright.agent.subcommands.schema import Name, document
from gatewright.agent.subcommands.tell import give, tell

group = typer.Typer(help="Show and change settings.", no_args_is_help=True)


Where = Annotated[Scope, typer.Option("--scope", "-s", help="Which file to change.")]
Key = Annotated[str, typer.Argument(help="A key such as permissions.defaultMode.")]


@group.command()
def get(key: Key) -> None:
    """Print one setting as JSON; exit code 1 when it is not set anywhere."""
    facts(key)  # a name that no setting has is an error
    value = value_at(msgspec.to_builtins(here().loaded.settings), key)
    if value is None:
        raise typer.Exit(1)
    give(json.dumps(value, indent=2, ensure_ascii=False))


@group.command(name="list")
def list_() -> None:
    """Print every setting that is set, with where it comes from."""
    loaded = here().loaded
    values: Any = msgspec.to_builtins(loaded.settings)
    for key, sources in sorted(loaded.provenance.items()):
        found = json.dumps(value_at(values, key), ensure_ascii=False)
        tell(f"{key} = {found}  ({', '.join(sources)})")
    if not loaded.provenance:
        tell("All settings have their defaults.", err=True)
    for problem in loaded.problems:
        tell(problem.text(), err=True)


@group.command(name="set")
def set_(key: Key, value: Annotated[str, typer.Argument()], scope: Where = Scope.USER) -> None:
    """Change one setting; the value is JSON, or plain text."""
    refuse_inside_session()
    given = typed(value)
    place = here()
    check(key, given, scope.source, place.places.home)
    path = file_of(place, scope)
    set_value(path, key, given)
    tell(f"{key} = {json.dumps(given, ensure_ascii=False)} in {path}")


@group.command()
def unset(key: Key, scope: Where = Scope.USER) -> None:
    """Remove one setting from a file."""
    refuse_inside_session()
    path = file_of(here(), scope)
    set_value(path, key, None)
    tell(f"{key} is no longer set in {path}")


@group.command()
def path() -> None:
    """Print the files that are read, strongest first."""
    place = here()
    ours = {place.places.file(source) for source in Source}
    for file in place.loaded.files:
        if file not in ours and not file.exists():
            continue  # another agent's file, which nobody should begin to write
        tell(f"{file}{'' if file.exists() else '  (absent)'}")


@group.command()
def schema() -> None:
    """Print the JSON Schema of a settings file, for editors."""
    typer.echo(json.dumps(document(Name.SETTINGS), indent=2))
