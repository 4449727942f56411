"""/mcp: the servers there are, how each is, and what can be done about one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import msgspec

from gatewright.agent.commands.outcome import Act, Choice, Listing, Outcome, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.tools.blocks import Block, Table, Text

NOTHING = "There are no MCP servers here: agent mcp add, or docs/mcp.md, says how to have one."
VERBS = ("reconnect", "enable", "disable", "approve", "accept", "login", "logout")
USAGE = f"Usage: /mcp [NAME | {' NAME | '.join(VERBS)} NAME]"


class ServerRow(msgspec.Struct, frozen=True, kw_only=True):
    """One server as it is now."""

    name: str
    source: str
    state: str
    where: str = ""
    error: str = ""
    era: str = ""
    server: str = ""
    tools: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # tools that are not what was accepted
    left_out: tuple[str, ...] = ()
    tokens: int = 0
    pid: int = 0
    log: str = ""


class ServerBook(Protocol):
    """The servers of a session."""

    def rows(self) -> Sequence[ServerRow]: ...
    async def act(self, verb: str, name: str, more: str = "") -> str:
        """Do one of VERBS; what to tell the person. Raises GatewrightError.

        A login that a browser elsewhere ended is finished with `more`: the address it ended at.
        """
        ...


def server_commands(book: ServerBook) -> tuple[Command, ...]:
    return (
        Command(
            name="mcp",
            summary="MCP servers: their state and tools, reconnect, switch off, accept, log in",
            args="[NAME | VERB NAME]",
            run=partial(servers, book),
        ),
    )


async def servers(book: ServerBook, context: CommandContext) -> Outcome:
    words = context.args.split()
    more = words.pop() if len(words) == 3 and words[0] == "login" else ""
    *verbs, name = words or [""]
    verb = " ".join(verbs)
    rows = book.rows()
    if not name:
        if not rows:
            return Say.text(NOTHING)
        return _listing(book, Say((_table(rows), Text(USAGE, "dim"))))
    row = next((row for row in rows if row.name == name), None)
    if row is None:
        return Problem.of(f"There is no MCP server {name}. {USAGE}")
    match verb:
        case "":
            return Say(tuple(_details(row)))
        case word if word in VERBS:
            return Say.text(await book.act(word, name, more))
        case _:
            return Problem.of(USAGE)


def _listing(book: ServerBook, fallback: Say) -> Listing:
    async def read(name: str) -> Sequence[Block]:
        row = next((row for row in book.rows() if row.name == name), None)
        return _details(row) if row is not None else (Text("It is gone.", "warning"),)

    async def reconnect(name: str) -> Outcome:
        return await _acted(book, "reconnect", name)

    async def switch(name: str) -> Outcome:
        off = any(row.name == name and row.state == "disabled" for row in book.rows())
        return await _acted(book, "enable" if off else "disable", name)

    async def approve(name: str) -> Outcome:
        waits = any(row.name == name and row.state == "unapproved" for row in book.rows())
        return await _acted(book, "approve" if waits else "accept", name)

    async def log_in(name: str) -> Outcome:
        return await _acted(book, "login", name)

    return Listing(
        fallback=fallback,
        title="MCP servers",
        rows=lambda: [_choice(row) for row in book.rows()],
        read=read,
        acts=(
            Act("ctrl+k", "connects anew", reconnect),
            Act("ctrl+o", "off or on for this project", switch),
            Act("ctrl+l", "logs in", log_in),
            Act("ctrl+y", "approves it, or accepts its tools as they are", approve),
        ),
        follows=True,
    )


async def _acted(book: ServerBook, verb: str, name: str) -> Outcome:
    return Say.text(await book.act(verb, name))


def _choice(row: ServerRow) -> Choice:
    count = f"{len(row.tools)} tool{'s' * (len(row.tools) > 1)}" if row.tools else ""
    detail = " · ".join(filter(None, (row.state, count, row.source)))
    return Choice(row.name, row.name, detail, typed=f"/mcp {row.name}")


def _table(rows: Sequence[ServerRow]) -> Table:
    cells = tuple(
        (r.name, r.source, r.state, str(len(r.tools)), f"{r.tokens:,}", _first(r.error))
        for r in rows
    )
    return Table(("Server", "Source", "State", "Tools", "Tokens", ""), cells)


def _details(row: ServerRow) -> Sequence[Block]:
    said = (
        ("Server", row.name),
        ("Says it is", row.server),
        ("Source", f"{row.source}, {row.where}"),
        ("State", row.state),
        ("Error", row.error),
        ("Protocol", row.era),
        ("Process", str(row.pid) if row.pid else ""),
        ("Log", row.log),
        ("Tools", ", ".join(row.tools)),
        ("Changed", ", ".join(row.changed)),
        ("Left out", "; ".join(row.left_out)),
    )
    return (Table(("", ""), tuple(pair for pair in said if pair[1])),)


def _first(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 60 else f"{line[:59]}…"
