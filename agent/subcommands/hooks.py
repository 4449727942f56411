"""`agent hooks`: which hooks there are here, whether they could run, and what they would answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gatewright.agent.launch.exits import BadInput, UsageError
from gatewright.agent.subcommands.tell import give, tell

group = typer.Typer(help="Hooks.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, a list.")]
Given = Annotated[str, typer.Option("--input", help="The event as JSON: a file, or - to read it.")]


@group.command(name="list")
def list_(as_json: AsJson = False) -> None:
    """List the hooks of all sources, with where each is written and whether it runs."""
    from gatewright.agent.subcommands.questions.hooks_here import HooksHere  # noqa: PLC0415  90 ms

    rows = HooksHere().rows()
    if as_json:
        give(msgspec.json.format(msgspec.json.encode([row.facts() for row in rows])).decode())
        return
    for row in rows:
        about = " ".join(filter(None, (row.handler.event, row.matcher)))
        why = f": {row.why}" if row.why else ""
        tell(f"{about}  {row.handler.kind}  {row.handler.name}")
        tell(f"    {row.handler.place.text()}  {row.state}{why}")
    if not rows:
        tell("There are no hooks here.")


@group.command()
def check() -> None:
    """Say what keeps hooks from running; exit code 1 when something does."""
    from gatewright.agent.subcommands.questions.hooks_here import HooksHere  # noqa: PLC0415  90 ms

    here = HooksHere()
    bad = 0
    for fault, runs in here.problems():
        bad += not runs
        tell(f"{'!!' if runs else 'XX'}  {fault.text()}")
    off = here.book.off
    why = "; ".join(dict.fromkeys(each.why for each in off))
    tell(f"Hooks in force: {len(here.book.handlers)}, off: {len(off)}{f' ({why})' if why else ''}.")
    if bad:
        raise typer.Exit(1)


@group.command()
def test(
    event: Annotated[str, typer.Argument(help="The event, such as PreToolUse.")],
    value: Annotated[str, typer.Option("--value", help="What matchers look at: Bash.")] = "",
    input: Given = "",
    dry: Annotated[bool, typer.Option("--dry", help="Run nothing.")] = False,
) -> None:
    """Run the hooks of an event on a sample of it: who hears of it, what each answers."""
    from gatewright.agent.hooks.events import EVENTS  # noqa: PLC0415  lazy: 5 ms
    from gatewright.agent.hooks.shown.trial import effect, timed, understanding  # noqa: PLC0415
    from gatewright.agent.subcommands.questions.hooks_here import HooksHere  # noqa: PLC0415  90 ms

    if event not in EVENTS:
        raise UsageError(f"There is no event {event!r}. They are: {', '.join(EVENTS)}.")
    here = HooksHere()
    trial = here.trial(event, value, _given(input))
    tell(f"stdin: {trial.firing.data.decode().strip()}")
    for handler, why in trial.others:
        tell(f"-  {handler.place.text()}  {handler.name}: does not hear of it, {why}")
    if not trial.wanted:
        tell(f"No hook hears of this {event}.")
        return
    if dry:
        for handler in trial.wanted:
            tell(f"+  {handler.place.text()}  {handler.name}")
        return
    runs = here.run(trial)
    for ran in runs:
        tell(f"+  {ran.handler.place.text()}  {ran.handler.name}")
        tell(f"   {timed(ran)}: {understanding(ran)}")
    tell(f"Effect: {effect(event, runs)}")


def _given(input: str) -> dict[str, Any] | None:
    if not input:
        return None
    try:
        text = sys.stdin.read() if input == "-" else Path(input).read_text(encoding="utf-8")
        given = msgspec.json.decode(text, type=dict[str, Any])
    except OSError as error:
        raise BadInput(f"{input} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"The input of the event is no JSON object: {error}.") from error
    if not isinstance(given.get("tool_input", {}), dict):
        raise BadInput("The tool_input of the event is no object.")
    return given
