"""`agent mcp serve`: our tools over standard input and output, for other MCP clients."""

from __future__ import annotations

import typer

AS_GIVEN = {"allow_extra_args": True, "ignore_unknown_options": True}  # our own parser reads them


def serve(context: typer.Context) -> None:
    """Offer our tools to another MCP client, over standard input and output.

    Each call goes through the gate, as in print mode; a client that can ask its person is asked.
    Flags are those of agent itself: --tools, --permission-mode, --allowedTools, --disallowedTools,
    --add-dir, --cwd, --settings, --setting-sources, --trust, --bare, --no-session, --name, --model.
    """
    from gatewright.agent.subcommands.serving.process import options_of, run  # noqa: PLC0415  90 ms

    raise typer.Exit(run(options_of(context.args), context.obj))
