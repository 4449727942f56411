"""`agent workflows`: which saved workflows there are here, whether they are right; to run one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gatewright.agent.errors import GatewrightError
from gatewright.agent.subcommands.tell import give, tell
from gatewright.agent.text.money import dollars

group = typer.Typer(help="Workflows: saved ones, and runs.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Name = Annotated[str, typer.Argument(help="Its name, such as deep-research or tools:deploy.")]
RunId = Annotated[str, typer.Argument(help="The id of a run, as agent workflows runs lists it.")]
Model = Annotated[str, typer.Option("--model", help="The model, in place of the settings'.")]
Mode = Annotated[str, typer.Option("--permission-mode", help="The mode its agents derive from.")]
Budget = Annotated[float | None, typer.Option("--max-budget-usd", help="Dollars it may cost.")]


def _give(value: object) -> None:
    give(msgspec.json.format(msgspec.json.encode(value, enc_hook=str)).decode())


@group.command(name="list")
def list_(as_json: AsJson = False) -> None:
    """List saved workflows, with where each comes from."""
    from gatewright.agent.subcommands.workflows.workflows_here import WorkflowsHere  # noqa: PLC0415  lazy: 30 ms

    here = WorkflowsHere()
    if as_json:
        _give({"workflows": here.rows(), "problems": here.problems()})
        return
    for row in here.rows():
        tell(f"{row.name}  {row.source}{'' if row.trusted else '  not trusted, not run'}")
        tell(f"    {' '.join(row.description.split())[:200]}")
    for problem in here.problems():
        tell(f"XX  {problem}")
    if here.off:
        tell(here.off, err=True)


@group.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """Show one: what it says of itself, and its script."""
    from gatewright.agent.subcommands.workflows.workflows_here import WorkflowsHere  # noqa: PLC0415  lazy: 30 ms

    row, script = WorkflowsHere().find(name)
    if as_json:
        _give({**msgspec.to_builtins(row, enc_hook=str), "script": script})
        return
    tell(f"{row.name}: {row.description}")
    for label, value in row.facts():
        tell(f"  {label}: {value}")
    tell(f"\n{script}", nl=not script.endswith("\n"))


@group.command()
def validate(
    files: Annotated[
        list[str] | None, typer.Argument(help="Scripts or directories; without one all places.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with scripts, with line and column; exit code 1 where one cannot run."""
    from gatewright.agent.subcommands.workflows.workflows_here import validated  # noqa: PLC0415  lazy: 30 ms

    found = validated([Path(each) for each in files or ()])
    wrong = [each for each in found if each.problem]
    if as_json:
        _give(found)
    else:
        for each in found:
            if each.problem:
                tell(f"XX  {each.path}: {each.problem}")
            for warning in each.warnings:
                tell(f"!!  {each.path}: {warning}")
        right = [each.name for each in found if not each.problem]
        tell(f"Right: {len(right)} of {len(found)} ({', '.join(right) or 'none'}).")
    if wrong or (files and not found):
        raise typer.Exit(1)


def _refuse_where_off() -> None:
    """Before a session is opened that would know nothing of them."""
    from gatewright.agent.subcommands.workflows.workflows_here import WorkflowsHere  # noqa: PLC0415  lazy: 30 ms

    if off := WorkflowsHere().off:
        raise GatewrightError(off)


@group.command()
def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A saved one by its name, or a script's path.")],
    args: Annotated[str, typer.Option("--args", help="What it gets: JSON, or a text.")] = "",
    model: Model = "",
    mode: Mode = "",
    budget: Budget = None,
    as_json: AsJson = False,
) -> None:
    """Run one without a conversation, and print what it returns."""
    from gatewright.agent.subcommands.workflows.unattended import (  # noqa: PLC0415  lazy: 100 ms
        Wished,
        options_of,
        run_workflow,
    )

    _refuse_where_off()
    wished = Wished.named(name, args, as_json=as_json)
    code = run_workflow(options_of(model, mode, budget), context.obj, wished)
    raise typer.Exit(code)


@group.command()
def runs(as_json: AsJson = False) -> None:
    """List the runs of all sessions of this project, the newest first."""
    from gatewright.agent.subcommands.workflows.runs_here import runs_here  # noqa: PLC0415  lazy: 20 ms
    from gatewright.agent.transcript.index import ago  # noqa: PLC0415  lazy: 20 ms

    found = runs_here()
    if as_json:
        _give(found)
        return
    for each in found:
        when = ago(time.time() - each.began) if each.began else ""
        told = [each.id, each.name, each.status, f"{each.done} of {each.total} agents"]
        if each.failed:
            told.append(f"{each.failed} failed")
        if each.cost:
            told.append(dollars(each.cost))
        if when:
            told.append(when if when == "now" else f"{when} ago")
        tell("  ".join(told))
        if each.why or each.title:
            tell(f"    {each.why or each.title}")
    if not found:
        tell("No workflow has run here.")


@group.command()
def resume(
    context: typer.Context,
    id: RunId,
    rerun: Annotated[
        str, typer.Option("--rerun", help="failed (without this), stale, all, a phase or a label.")
    ] = "",
    model: Model = "",
    mode: Mode = "",
    as_json: AsJson = False,
) -> None:
    """Go on with a run in its session: what was answered before is not asked again."""
    from gatewright.agent.subcommands.workflows.runs_here import (  # noqa: PLC0415  lazy: 20 ms
        run_here,
        session_of,
    )
    from gatewright.agent.subcommands.workflows.unattended import (  # noqa: PLC0415  lazy: 100 ms
        Wished,
        options_of,
        run_workflow,
    )

    _refuse_where_off()
    known = run_here(id)
    options = options_of(model, mode, None, session=session_of(known))
    wished = Wished.resumed(known.id, rerun, as_json=as_json)
    raise typer.Exit(run_workflow(options, context.obj, wished))


@group.command()
def export(
    id: RunId,
    to: Annotated[str, typer.Option("--to", help="A file; without one it is printed.")] = "",
) -> None:
    """Write a run down as JSON: script, args, each call with its result; without known secrets."""
    from gatewright.agent.subcommands.workflows.runs_here import exported  # noqa: PLC0415  lazy: 20 ms

    text = exported(id)
    if to:
        Path(to).write_text(text, encoding="utf-8")
        tell(f"{to} has the run {id}.")
        return
    give(text, nl=False)
