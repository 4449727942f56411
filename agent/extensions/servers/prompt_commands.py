"""Prompts of servers as slash commands: what they come to is a stranger's text, sent as such.

It runs nothing, names no files to attach, and brings no rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from gatewright.agent.commands.outcome import Outcome, Problem, Scope, Submit
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.servers.filling import filled
from gatewright.agent.extensions.servers.mentions import cut
from gatewright.agent.text.printable import escaped
from gatewright.agent.text.well_formed import formed
from gatewright.mcp.offered.listed import Prompt
from gatewright.mcp.offered.prompts import (
    BadArguments,
    given,
    hint,
    missing,
    prompts_of,
    words_of,
)
from gatewright.mcp.server import Server
from gatewright.tools.blocks import Text
from gatewright.tools.interact import ACCEPT, Ask, Field, Option
from gatewright.tools.protocol import TextContent, ToolFailure, ToolResult
from gatewright.tools.system.processes import spawn

SOURCE = "mcp"


class PromptCommands:
    def __init__(self, host: Host, servers: Callable[[], Sequence[Server]]) -> None:
        self._host = host
        self._servers = servers
        self._spill: Path = host.base.start.path.with_suffix("") / "spill"

    def now(self) -> Sequence[Command]:
        return [
            Command(
                name=name,
                summary=escaped(prompt.about or prompt.title or f"A prompt of {server.name}"),
                args=escaped(hint(prompt)),
                source=SOURCE,
                kind="prompt",
                run=partial(self._run, server, prompt),
            )
            for server in self._servers()
            for name, prompt in prompts_of(server).items()
        ]

    async def _run(self, server: Server, prompt: Prompt, context: CommandContext) -> Outcome:
        try:
            arguments = given(prompt, context.args)
        except BadArguments as error:
            return Problem.of(f"{error} Usage: /{context.name} {escaped(hint(prompt))}")
        if lacking := missing(prompt, arguments):
            more = await self._asked(server, prompt, lacking)
            if more is None:
                names = escaped(", ".join(lacking))
                usage = f"/{context.name} {escaped(hint(prompt))}"
                return Problem.of(f"It needs {names}. Usage: {usage}")
            arguments.update(more)
        try:
            parts = await words_of(server, prompt, arguments)
            from gatewright.tools.documents.fitted import fitted  # noqa: PLC0415  lazy: only with images

            fit = await fitted(ToolResult(ok=True, parts=parts), spawn, self._spill)
        except ToolFailure as failure:
            return Problem.of(escaped(str(failure)))
        content = formed(tuple(cut(fit)))
        text = "\n".join(part.text for part in content if isinstance(part, TextContent))
        if not text.strip():
            return Problem.of(f"The server {server.name} gives no words for it.")
        others = tuple(part for part in content if not isinstance(part, TextContent))
        said = f"[The prompt {prompt.name} of the MCP server {server.name}, which I chose:]\n{text}"
        return Submit(said, Scope(by=context.name, attachments=others))

    async def _asked(
        self, server: Server, prompt: Prompt, names: Sequence[str]
    ) -> dict[str, str] | None:
        """Of the person; None where nobody is there, or wants to say it."""
        if not self._host.around.interactive:
            return None
        abouts = {each.name: each.about for each in prompt.arguments}
        fields = tuple(
            Field(name, escaped(name), required=True, help=escaped(abouts[name])) for name in names
        )
        ask = Ask(
            kind="question",
            title=f"The prompt {escaped(prompt.name)} of {server.name} needs to know more",
            body=(Text(escaped(prompt.about)),) if prompt.about else (),
            options=(Option(ACCEPT, "Fill it in", "y"), Option("cancel", "Leave it", "n")),
            fields=fields,
        )
        answer = await filled(self._host.session.ask, ask)
        if answer is None or answer.choice != ACCEPT:
            return None
        return {name: str(value) for name, value in (answer.values or {}).items()}
