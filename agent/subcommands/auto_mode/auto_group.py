"""`agent auto-mode`: what calls are judged by, one judgement by hand, and how good a judge is."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.exits import BadInput
from gatewright.agent.subcommands.place import Scope, file_of, here, refuse_inside_session
from gatewright.agent.subcommands.tell import give, tell

group = typer.Typer(help="Auto mode: rules, judgements, measurements.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Model = Annotated[str, typer.Option("--model", "-m", help="Who judges.")]


class Stages(StrEnum):
    BOTH = "both"
    FAST = "fast"
    THINKING = "thinking"


@group.command()
def defaults(
    label: Annotated[str, typer.Option("--label", help="This entry alone.")] = "",
    as_json: AsJson = False,
) -> None:
    """Print the four lists that come with the program."""
    from gatewright.agent.auto.lists import SECTIONS, defaults  # noqa: PLC0415  lazy: 5 ms

    own = defaults()
    entries = [(section, each) for section in SECTIONS for each in own.of(section)]
    if label:
        entries = [pair for pair in entries if pair[1].label == label]
        if not entries:
            known = ", ".join(each.label for section in SECTIONS for each in own.of(section))
            raise BadInput(f"There is no entry {label!r}. They are: {known}.")
    if as_json:
        rows = [{"list": s, "label": each.label, "text": each.text} for s, each in entries]
        give(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    for section, each in entries:
        tell(f"{section:12} {each.label}: {each.text}")


@group.command()
def config() -> None:
    """Print what is in force as JSON, with the layers it comes from."""
    from gatewright.agent.subcommands.auto_mode.auto_here import config_here  # noqa: PLC0415  60 ms

    give(msgspec.json.format(msgspec.json.encode(config_here())).decode())


@group.command()
def critique(model: Model = "") -> None:
    """Have a model look at your own entries: what is unclear, contradicts or is too wide."""
    from gatewright.agent.subcommands.auto_mode.auto_here import critique_here  # noqa: PLC0415  60 ms

    tell(critique_here(model))


@group.command()
def test(
    action: Annotated[
        str, typer.Option("--action", help='A command, or {"tool": "...", "does": {...}}.')
    ],
    say: Annotated[list[str] | None, typer.Option("--say", help="What the person said.")] = None,
    model: Model = "",
    stage: Annotated[Stages, typer.Option("--stage", help="Which look.")] = Stages.BOTH,
    as_json: AsJson = False,
) -> None:
    """Have one action judged here; nothing is run. Exit code 1 unless it is allowed."""
    if not action.strip():
        raise BadInput("--action is empty: give a command, or a call as JSON.")
    from gatewright.agent.subcommands.auto_mode.auto_here import judged_here  # noqa: PLC0415  60 ms

    told = judged_here(action, say or [], model, stage.value)
    if as_json:
        give(msgspec.json.format(msgspec.json.encode(told)).decode())
    else:
        why = ": ".join(filter(None, (str(told["label"]), str(told["why"] or told["failure"]))))
        tell(f"{told['verdict'] or 'no verdict'} ({told['stage']}) {why}".rstrip())
    if told["verdict"] != "allow":
        raise typer.Exit(1)


@group.command(name="eval")
def eval_(
    model: Model = "",
    stage: Annotated[Stages, typer.Option("--stage", help="Which look.")] = Stages.BOTH,
    replay: Annotated[Path | None, typer.Option("--replay", help="Answers kept before.")] = None,
    save: Annotated[Path | None, typer.Option("--save", help="Keep the answers here.")] = None,
    cases: Annotated[list[Path] | None, typer.Option("--cases", help="Cases of your own.")] = None,
    only: Annotated[str, typer.Option("--group", help="One group alone.")] = "",
    as_json: AsJson = False,
) -> None:
    """Measure a judge on labelled cases; exit code 1 when it is not good enough to judge."""
    from gatewright.agent.subcommands.auto_mode.auto_here import Asked, measured_here  # noqa: PLC0415  60 ms

    if replay and save:
        raise BadInput("Answers are either kept or replayed: leave --save or --replay out.")
    asked = Asked(model, stage.value, replay, save, tuple(cases or ()), only)
    told, text, missing = measured_here(asked)
    give(msgspec.json.format(msgspec.json.encode(told)).decode() if as_json else text)
    if missing:
        raise GatewrightError(
            f"{missing} of the answers in {replay} are for another input: the rules, the lists or "
            "cases changed since. Measure again with --save."
        )
    if told["shortfalls"]:
        raise typer.Exit(1)


@group.command()
def reset(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Without a question.")] = False,
) -> None:
    """Remove your own autoMode entries from your settings file, after showing them."""
    from gatewright.agent.settings.edit import read_object, set_value  # noqa: PLC0415  lazy: 3 ms

    refuse_inside_session()
    path = file_of(here(), Scope.USER)
    own = read_object(path).get("autoMode")
    if own is None:
        tell(f"{path} says nothing of auto mode.")
        return
    tell(msgspec.json.format(msgspec.json.encode(own)).decode())
    if not yes and not typer.confirm(f"Remove this from {path}?"):
        tell("Nothing was changed.")
        return
    set_value(path, "autoMode", None)
    tell(f"Removed autoMode from {path}.")
