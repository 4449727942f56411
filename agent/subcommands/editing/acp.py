"""`agent acp`: the agent inside an editor that speaks the Agent Client Protocol."""

from __future__ import annotations

import typer

AS_GIVEN = {"allow_extra_args": True, "ignore_unknown_options": True}  # our own parser reads them


def register(app: typer.Typer) -> None:
    app.command(name="acp", context_settings=AS_GIVEN)(acp)


def acp(context: typer.Context) -> None:
    """Work inside an editor, over standard input and output: docs/editors.md says how to set it up.

    --log-protocol FILE keeps every message, without secrets. Other flags are those of agent itself
    and hold for every session: --model, --effort, --permission-mode, --allowedTools,
    --disallowedTools, --tools, --add-dir, --mcp-config, --strict-mcp-config, --settings,
    --setting-sources, --append-system-prompt, --plugin-dir, --max-turns, --max-budget-usd,
    --no-session, --trust, --bare, --debug.
    """
    from gatewright.agent.subcommands.editing.starting_acp import run  # noqa: PLC0415  90 ms

    raise typer.Exit(run(context.args, context.obj))
