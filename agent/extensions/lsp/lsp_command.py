"""/lsp: the language servers of a session, how each is, and what can be done about one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Act, Choice, Listing, Outcome, Page, Problem, Say
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.errors import SessionError
from gatewright.agent.lsp.running.server import Server
from gatewright.agent.text.printable import visible
from gatewright.tools.blocks import Block, Output, Table, Text

if TYPE_CHECKING:
    from gatewright.agent.extensions.lsp.lsp_extension import LanguageServers
    from gatewright.agent.extensions.lsp.lsp_session import LspSession

TITLE = "Language servers"
USAGE = "Usage: /lsp [NAME | restart NAME | log NAME]"
UNTRUSTED = "The project is not trusted, so no language server runs: /trust trusts it."
OFF = "Language servers are off: lsp.use in the settings."
ABSENT = "No language server is there for this machine's programs: agent lsp doctor says more."
WAITS = "not needed yet"
COLUMNS = ("Server", "Files", "Memory", "Restarts", "State", "Root")


async def run_command(servers: LanguageServers, context: CommandContext) -> Outcome:
    if not servers.possible:
        return Say.text(UNTRUSTED if not servers.trusted else OFF)
    session = servers.opened()
    words = context.args.split()
    try:
        match words:
            case []:
                return _listing(session)
            case ["restart", name]:
                return await _restarted(session.server(name))
            case ["log", name]:
                return Say(await _log(session, session.server(name)))
            case [name]:
                return Say((_facts(session, session.server(name)),))
            case _:
                return Problem.of(USAGE)
    except SessionError as error:
        return Problem.of(str(error))


def _listing(session: LspSession) -> Outcome:
    """The servers that run are as they are now; which others there are was looked up before."""
    others = [
        (each.definition.name, f"off: {each.lack}" if each.lack else WAITS)
        for each in session.listed()
        if not each.lack or each.definition.source != "built-in"
    ]

    def rows() -> list[Choice]:
        running = session.languages.all
        begun = {each.name for each in running}
        return [
            *(_choice(each, session) for each in running),
            *(_waiting(name, state) for name, state in others if name not in begun),
        ]

    def found(id: str) -> Server | None:
        return next((each for each in session.languages.all if _id(each) == id), None)

    async def read(id: str) -> Sequence[Block]:
        if (server := found(id)) is None:
            return (Text(f"{id} begins with the first change of a file that it serves.", "dim"),)
        return _facts(session, server), *_unwatched(session), *await _log(session, server)

    async def restart(id: str) -> Outcome:
        server = found(id)
        return await _restarted(server) if server is not None else Say.text(f"{id}: {WAITS}")

    table = rows()
    if not table:
        return Page.text(TITLE, ABSENT)
    cells = Table(COLUMNS, tuple(row.cells for row in table))
    return Listing(
        fallback=Say((cells, *_unwatched(session), Text(USAGE, "dim"))),
        title=TITLE,
        rows=rows,
        read=read,
        acts=(Act("r", "restarts it", restart),),
        columns=COLUMNS,
        follows=True,
    )


def _unwatched(session: LspSession) -> tuple[Block, ...]:
    why = session.languages.watch.why
    return (Text(f"Not all changes reach them: {why}.", "warning"),) if why else ()


def _id(server: Server) -> str:
    return f"{server.name} {server.root}"


def _choice(server: Server, session: LspSession) -> Choice:
    size, files = server.memory(), len(server.documents.paths)
    cells = (
        server.name, str(files), _megabytes(size), str(server.restarts), _state(server),
        session.shown(server.root),
    )  # fmt: skip
    numbers = (0.0, float(files), float(size), float(server.restarts))
    typed = f"/lsp {server.name}"
    return Choice(_id(server), server.name, cells[4], typed=typed, cells=cells, numbers=numbers)


def _waiting(name: str, state: str) -> Choice:
    return Choice(name, name, state, typed=f"/lsp {name}", cells=(name, "", "", "", state, ""))


def _state(server: Server) -> str:
    if server.state == "ready":
        return "ready, reading the project" if server.busy else "ready"
    why = visible(server.why) if server.state in ("off", "restarting") else ""
    return f"{server.state}: {why}" if why else server.state


async def _restarted(server: Server) -> Outcome:
    await server.restart()
    return Say.text(f"{server.name} is starting anew.")


def _facts(session: LspSession, server: Server) -> Table:
    given = server.definition
    said: Iterator[tuple[str, str]] = filter(lambda pair: pair[1], (
        ("Server", server.name),
        ("Source", " ".join(filter(None, (given.source, given.where)))),
        ("Command", visible(" ".join((given.command, *given.args)))),
        ("State", server.state),
        ("Why", visible(server.why)),
        ("Root", session.shown(server.root)),
        ("Files", ", ".join(session.shown(path) for path in server.documents.paths[:20])),
        ("Process", str(server.pid or "")),
        ("Memory", _megabytes(server.memory())),
        ("Restarts", str(server.restarts)),
        ("Log", str(session.log_of(server.name).path)),
    ))  # fmt: skip
    return Table(("", ""), tuple(said))


def _megabytes(size: int) -> str:
    return f"{size / 1024**2:,.0f} MB" if size else ""


async def _log(session: LspSession, server: Server) -> tuple[Block, ...]:
    """Read away from the loop: a disk may be slow."""
    log = session.log_of(server.name)
    try:
        told = await asyncio.to_thread(log.tail)
    except OSError as error:
        return (Text(f"The log of {server.name} cannot be read: {error.strerror}.", "warning"),)
    if not told:
        return (Text(f"{server.name} has said nothing beside the protocol.", "dim"),)
    return Text(f"The end of {log.path}", "dim"), Output(told)
