"""`agent agents`: which types of agents there are here, and what those that ran did."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.settings.paths import AGENTS
from gatewright.agent.subcommands.place import Scope, own_folder, refuse_inside_session
from gatewright.agent.subcommands.tell import give, tell
from gatewright.agent.text.money import dollars

group = typer.Typer(help="Agents: their definitions, and those that ran.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Name = Annotated[str, typer.Argument(help="The type of agent, such as Explore.")]
SessionName = Annotated[str, typer.Argument(help="Its id, the start of one, or title words.")]
Id = Annotated[str, typer.Argument(help="The agent's id, or the start of one.")]


def _give(value: object) -> None:
    give(msgspec.json.format(msgspec.json.encode(value)).decode())


@group.command(name="list")
def list_(as_json: AsJson = False) -> None:
    """List the types of agents, with where each comes from."""
    from gatewright.agent.agents.definitions.rows import tools_said  # noqa: PLC0415  lazy: 9 ms
    from gatewright.agent.subcommands.questions.agents_here import AgentsHere  # noqa: PLC0415

    here = AgentsHere()
    if as_json:
        _give(here.rows())
        return
    for row in here.rows():
        tell(f"{row.name}  {row.source}{'' if row.state == 'offered' else f'  {row.state}'}")
        tell(f"    {row.description[:200]}")
        tell(f"    tools: {tools_said(row)}; model: {row.model}")
        if row.why:
            tell(f"    {row.why}")
    for problem in here.book.problems():
        tell(f"XX  {problem}")


@group.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """Show one type of agent: what it may use, what it is told."""
    from gatewright.agent.agents.definitions.rows import facts_of  # noqa: PLC0415  lazy: 9 ms
    from gatewright.agent.subcommands.questions.agents_here import AgentsHere  # noqa: PLC0415

    here = AgentsHere()
    rows = [row for row in here.rows() if row.name.casefold() == name.strip().casefold()]
    kind = here.book.now().find(name)
    if kind is None:
        raise GatewrightError(here.book.refusal(name))
    if as_json:
        _give({**msgspec.to_builtins(rows[0]), "prompt": kind.prompt})
        return
    tell(f"{kind.name}: {kind.description}")
    for label, value in facts_of(rows[0]):
        tell(f"  {label}: {value}")
    for row in rows[1:]:
        tell(f"  also in {row.path or row.source}: {row.why}")
    tell(f"\n{kind.prompt}")


@group.command()
def validate(
    folder: Annotated[str, typer.Argument(help="A directory; without one all places.")] = "",
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with definitions; exit code 1 where one cannot be used."""
    from gatewright.agent.subcommands.questions.agents_here import (  # noqa: PLC0415  lazy: 90 ms
        AgentsHere,
        checked,
    )

    found = checked(Path(folder)) if folder else AgentsHere().checked()
    if as_json:
        _give(found)
    else:
        for problem in found.problems:
            tell(f"XX  {problem}")
        for note in found.notes:
            tell(f"!!  {note}")
        tell(f"Usable: {len(found.names)} ({', '.join(found.names) or 'none'}).")
    if found.problems:
        raise typer.Exit(1)


@group.command()
def new(
    name: Annotated[str, typer.Argument(help="a-z, 0-9 and hyphens, such as test-runner.")],
    description: Annotated[str, typer.Option("--description", "-d", help="When to use it.")],
    tools: Annotated[str, typer.Option("--tools", help="Names with commas; all without.")] = "",
    model: Annotated[str, typer.Option("--model", help="A model; the parent's without.")] = "",
    scope: Annotated[Scope, typer.Option("--scope", help="Where it is kept.")] = Scope.PROJECT,
) -> None:
    """Write a new definition, to be filled in."""
    from gatewright.agent.agents.definitions.new_definition import (  # noqa: PLC0415  lazy: 9 ms
        new_definition,
        write_definition,
    )

    refuse_inside_session()
    text = new_definition(name, description, {"tools": tools, "model": model})
    path = write_definition(own_folder(scope, AGENTS, "A definition"), name, text)
    tell(f"{path} is there. Say in it what the agent does; agent agents show {name} shows it.")


@group.command()
def runs(session: SessionName = "", as_json: AsJson = False) -> None:
    """List the agents that a session started; without a name the newest session here."""
    from gatewright.agent.subcommands.questions.agent_runs import runs_of  # noqa: PLC0415  lazy

    found = runs_of(session)
    if as_json:
        _give(found)
        return
    for run in found:
        called = f" {run.name}" if run.name else ""
        calls = f"{run.tools} {'call' if run.tools == 1 else 'calls'}"
        tell(f"{run.id}{called}  {run.kind}  {run.status}  {calls}  {dollars(run.cost)}")
        tell(f"    {run.description}")
    if not found:
        tell("No agent was started.")


@group.command()
def worktrees(as_json: AsJson = False) -> None:
    """List the work trees of this project that we made, and what each of them holds."""
    from gatewright.agent.subcommands.questions.trees_here import trees_here  # noqa: PLC0415  lazy

    found = trees_here(os.environ)
    if as_json:
        _give(found)
        return
    for tree in found:
        tell(f"{tree.name}  {tree.branch}  {tree.state}")
        tell(f"    {tree.path}")
    if not found:
        tell("There are no work trees of ours here.")


@group.command()
def transcript(id: Id) -> None:
    """Print what an agent was told, did and said."""
    from gatewright.agent.subcommands.questions.agent_runs import transcript_of  # noqa: PLC0415  lazy

    for text in transcript_of(id, os.environ):
        tell(text, nl=False)


@group.command()
def stop(id: Id) -> None:
    """Have the session that runs an agent stop it, at the agent's next step."""
    from gatewright.agent.subcommands.questions.agent_runs import ask_to_stop  # noqa: PLC0415  lazy

    refuse_inside_session()
    path = ask_to_stop(id)
    if path is None:
        raise SessionError(f"{id} does not run: agent agents runs lists those that did.")
    tell(f"{path.stem} stops at its next step.")
