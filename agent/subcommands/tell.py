"""What a sub-command says to a person: nothing in it acts on the terminal."""

from __future__ import annotations

import sys

import typer

from gatewright.agent.text.printable import visible


def tell(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text that may hold what others wrote."""
    typer.echo(visible(text), err=err, nl=nl)


def give(text: str, *, nl: bool = True) -> None:
    """Print data: to a file or a program as it is, to a person as `tell` does."""
    typer.echo(visible(text) if sys.stdout.isatty() else text, nl=nl)
