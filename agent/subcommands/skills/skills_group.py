"""`agent skills`: which skills and command files there are, whether they are right, new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gatewright.agent.errors import GatewrightError
from gatewright.agent.subcommands.place import Scope, own_folder, refuse_inside_session
from gatewright.agent.subcommands.tell import give, tell
from gatewright.tools.system import private

group = typer.Typer(help="Skills and command files.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Name = Annotated[str, typer.Argument(help="Its name, such as code-review or user:code-review.")]


def _give(value: object) -> None:
    give(msgspec.json.format(msgspec.json.encode(value, enc_hook=str)).decode())


@group.command(name="list")
def list_(as_json: AsJson = False) -> None:
    """List skills and command files, with where each comes from and how it shows."""
    from gatewright.agent.subcommands.skills.skills_here import SkillsHere  # noqa: PLC0415  lazy: 30 ms

    here = SkillsHere()
    if as_json:
        _give({"skills": here.rows(), "shadowed": here.shadowed(), "problems": here.problems()})
        return
    for row in here.rows():
        state = "" if row.state == "on" else f"  {row.state}"
        tell(f"{row.name}  {row.source}{state}")
        tell(f"    {row.description[:200]}")
    for each in here.shadowed():
        called = f": /{each.name}" if each.name else ""
        tell(f"!!  {each.path} has the name of {each.by}{called}")
    for problem in here.problems():
        tell(f"{'XX' if problem.fatal else '!!'}  {problem.text}")
    if not here.rows():
        tell("There are no skills here. agent skills new writes one.")


@group.command()
def info(name: Name, as_json: AsJson = False) -> None:
    """Show one skill: what it says of itself, and its text."""
    from gatewright.agent.subcommands.skills.skills_here import SkillsHere  # noqa: PLC0415  lazy: 30 ms

    here = SkillsHere()
    row, text = here.find(name)
    if as_json:
        _give({**msgspec.to_builtins(row, enc_hook=str), "text": text})
        return
    tell(f"{row.name}: {row.description}")
    for label, value in here.facts(name):
        tell(f"  {label}: {value}")
    tell(f"\n{text}")


@group.command()
def validate(
    folders: Annotated[
        list[str] | None, typer.Argument(help="Directories or names; without one all places.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether skills are right by the letter of the format; exit code 1 where one is not."""
    from gatewright.agent.subcommands.skills.skills_here import validated  # noqa: PLC0415  lazy: 30 ms

    found = validated([Path(each) for each in folders or ()])
    wrong = [each for each in found if each.errors or (strict and each.warnings)]
    if as_json:
        _give([{**msgspec.to_builtins(e, enc_hook=str), "valid": e not in wrong} for e in found])
    else:
        for each in found:
            for problem in each.errors:
                tell(f"XX  {problem}")
            for note in each.warnings:
                tell(f"{'XX' if strict else '!!'}  {note}")
        right = [each.name for each in found if each not in wrong]
        tell(f"Valid: {len(right)} of {len(found)} ({', '.join(right) or 'none'}).")
    if wrong or (folders and not found):
        raise typer.Exit(1)


@group.command()
def new(
    name: Annotated[str, typer.Argument(help="a-z, 0-9 and hyphens, such as fix-tests.")],
    description: Annotated[
        str, typer.Option("--description", "-d", help="What it does, and when to use it.")
    ],
    tools: Annotated[str, typer.Option("--tools", help="Tools it may use unasked.")] = "",
    scope: Annotated[Scope, typer.Option("--scope", help="Where it is kept.")] = Scope.PROJECT,
    as_json: AsJson = False,
) -> None:
    """Write a new skill, to be filled in."""
    from gatewright.skills.model import SkillError  # noqa: PLC0415  lazy: 3 ms
    from gatewright.skills.places import SKILLS  # noqa: PLC0415  lazy: 3 ms
    from gatewright.skills.writing import new_skill, write_skill  # noqa: PLC0415  lazy: 3 ms

    refuse_inside_session()
    try:
        text = new_skill(name, description, {"allowed-tools": tools})
        place = own_folder(scope, SKILLS, "A skill")
        if scope is Scope.USER:
            private.folder(place)
        path = write_skill(place, name, text)
    except SkillError as error:
        raise GatewrightError(f"{error}.") from error
    if as_json:
        _give({"name": name, "path": path})
        return
    tell(f"{path} is there. Say in it how the task is done; /{name} invokes it.")
