"""/lsp: the language servers of a session, how each is, and what can be done about one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.errors import SessionError
from gatewright.agent.lsp.running.server import Server
from gatewright.agent.text.printable import visible
from gatewright.tools.blocks import Block, Output, Table, Text

if TYPE_CHECKING:
    from gatewright.agent.extensions.lsp.lsp_extension import LanguageServers
    from gatewright.agent.extensions.lsp.lsp_session import LspSession

USAGE = "Usage: /lsp [NAME | restart NAME | log NAME]"
UNTRUSTED = "The project is not trusted, so no language server runs: /trust, or agent trust."
OFF = "Language servers are off: lsp.use in the settings."
NONE = "No language server was needed yet. These are there: {0}."
ABSENT = "No language server is there for this machine's programs: agent lsp doctor says more."


async def run_command(servers: LanguageServers, context: CommandContext) -> Outcome:
    if not servers.possible:
        return Say.text(UNTRUSTED if not servers.trusted else OFF)
    session = servers.opened()
    words = context.args.split()
    try:
        match words:
            case []:
                return Say(_overview(session))
            case ["restart", name]:
                await session.server(name).restart()
                return Say.text(f"{name} is starting anew.")
            case ["log", name]:
                return Say(_log(session, name))
            case [name]:
                return Say((_facts(session, session.server(name)),))
            case _:
                return Problem.of(USAGE)
    except SessionError as error:
        return Problem.of(str(error))


def _overview(session: LspSession) -> tuple[Block, ...]:
    running = session.languages.all
    if not running:
        there = [each.definition.name for each in session.listed() if not each.lack]
        return (Text(NONE.format(", ".join(there)) if there else ABSENT),)
    cells = tuple(
        (
            each.name,
            each.state + (", reading the project" if each.busy else ""),
            session.shown(each.root),
            str(len(each.documents.paths)),
            _megabytes(each),
            str(each.restarts),
        )
        for each in running
    )
    heads = ("Server", "State", "Root", "Files", "Memory", "Restarts")
    return Table(heads, cells), Text(USAGE, "dim")


def _facts(session: LspSession, server: Server) -> Table:
    given = server.definition
    said = (
        ("Server", server.name),
        ("Source", " ".join(filter(None, (given.source, given.where)))),
        ("Command", visible(" ".join((given.command, *given.args)))),
        ("State", server.state),
        ("Why", visible(server.why)),
        ("Root", session.shown(server.root)),
        ("Files", ", ".join(session.shown(path) for path in server.documents.paths[:20])),
        ("Process", str(server.pid or "")),
        ("Memory", _megabytes(server)),
        ("Restarts", str(server.restarts)),
        ("Log", str(session.log_of(server.name).path)),
    )
    return Table(("", ""), tuple(pair for pair in said if pair[1]))


def _megabytes(server: Server) -> str:
    size = server.memory()
    return f"{size / 1024**2:,.0f} MB" if size else ""


def _log(session: LspSession, name: str) -> tuple[Block, ...]:
    log = session.log_of(session.server(name).name)
    try:
        told = log.tail()
    except OSError as error:
        return (Text(f"The log of {name} cannot be read: {error.strerror}.", "warning"),)
    if not told:
        return (Text(f"{name} has said nothing beside the protocol.", "dim"),)
    return Text(f"The end of {log.path}", "dim"), Output(told)
