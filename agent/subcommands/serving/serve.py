"""`agent mcp serve`: our tools for other MCP clients, over standard streams or HTTP."""

from __future__ import annotations

import typer

AS_GIVEN = {"allow_extra_args": True, "ignore_unknown_options": True}  # our own parser reads them


def serve(context: typer.Context) -> None:
    """Offer our tools to other MCP clients, over standard input and output or with --http [PORT].

    Each call goes through the gate, as in print mode; a client that can ask its person is asked.
    --http serves programs of this machine that have the token, which is said once, or taken from
    GATEWRIGHT_SERVE_TOKEN. Other flags are those of agent itself: --tools, --permission-mode,
    --allowedTools, --disallowedTools, --add-dir, --cwd, --settings, --setting-sources, --trust,
    --bare, --no-session, --name, --model.
    """
    from gatewright.agent.subcommands.serving.door import http_of  # noqa: PLC0415  only here
    from gatewright.agent.subcommands.serving.process import options_of, run  # noqa: PLC0415  90 ms

    http, words = http_of(context.args)
    raise typer.Exit(run(options_of(words), context.obj, http))
