"""`agent debug`: put questions to the pure parts of the program, for tests and the curious."""

from __future__ import annotations

import typer

from gatewright.agent.subcommands.questions.jsonl import Jsonl, answer_lines

group = typer.Typer(help="Show how the program decides things.", no_args_is_help=True)


@group.command()
def render(jsonl: Jsonl = False) -> None:
    """Print what would reach the terminal: {"id", "where", "chunks"} per line."""
    from gatewright.agent.subcommands.questions.rendering import render_line  # noqa: PLC0415  lazy: 80 ms

    answer_lines(jsonl, render_line, lenient=True)


@group.command()
def redirect(jsonl: Jsonl = False) -> None:
    """Say whether a web redirect would be followed: {"id", "from", "to", "hop"} per line."""
    from gatewright.tools.web.redirect import decide_line  # noqa: PLC0415  lazy: 3 ms

    answer_lines(jsonl, decide_line)
