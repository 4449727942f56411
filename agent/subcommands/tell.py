"""What a sub-command says to a person: nothing in it acts on the terminal."""

from __future__ import annotations

import typer

from gatewright.agent.printable import visible


def tell(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text that may hold what others wrote."""
    typer.echo(visible(text), err=err, nl=nl)
