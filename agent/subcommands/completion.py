"""`agent completion`: print what a shell sources to complete flags and sub-commands."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from gatewright.agent.launch.shell_completion import script

HELP = "Print completion for a shell: source <(agent completion bash), or put it in a file of fish."


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def register(app: typer.Typer) -> None:
    app.command(name="completion", help=HELP)(completion)


def completion(shell: Annotated[Shell, typer.Argument()]) -> None:
    typer.echo(script(shell), nl=False)
