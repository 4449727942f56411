"""The typer application of the sub-commands; each part is imported when it runs."""

from __future__ import annotations

import typer


def application() -> typer.Typer:
    from gatewright.agent.subcommands import config, doctor, trust  # noqa: PLC0415

    app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
    for part in (doctor, trust, config):
        part.register(app)
    return app
