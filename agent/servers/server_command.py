"""/mcp: the servers there are, how each is, and what can be done about one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Protocol

import msgspec

from gatewright.agent.commands.outcome import (
    Act,
    Choice,
    Listing,
    Look,
    Outcome,
    Page,
    Problem,
    Say,
)
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.tools.blocks import Block, Output, Table, Text

NOTHING = "There are no MCP servers here: agent mcp add --help says how to add one."
NEXT = {
    "unapproved": "/mcp approve {0} asks whether it may run",
    "needs-auth": "/mcp login {0} logs in",
    "failed": "/mcp reconnect {0} tries it again",
    "disabled": "/mcp enable {0} switches it on",
}
VERBS = ("reconnect", "enable", "disable", "approve", "accept", "login", "logout")
USAGE = f"Usage: /mcp [NAME | {' NAME | '.join((*VERBS, 'log'))} NAME]"
SILENT = "{0} has said nothing beside the protocol."
NO_RULE = "none"


class ToolRow(msgspec.Struct, frozen=True):
    """One tool. `name`, `hint` and `text` are the server's word."""

    name: str
    hint: str = ""
    text: str = ""
    rule: str = ""  # of the person, that speaks about it whatever it is called with
    pin: str = ""  # accepted, changed, new, or not kept


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
    confined: str = ""  # the bounds that its program runs in
    changed: tuple[str, ...] = ()  # tools that are not what was accepted
    left_out: tuple[str, ...] = ()
    tokens: int = 0
    pid: int = 0
    log: str = ""


class ServerBook(Protocol):
    """The servers of a session."""

    def rows(self) -> Sequence[ServerRow]: ...
    def tools(self, name: str) -> Sequence[ToolRow]: ...
    def memory(self, name: str) -> int:
        """Bytes that its processes hold; 0 where none runs. It looks at all processes."""
        ...

    def log(self, name: str) -> str:
        """The last lines that its program said beside the protocol. Raises GatewrightError."""
        ...

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
            return Page.text("MCP servers", NOTHING)
        return _listing(book, Say((_table(rows), Text(USAGE, "dim"))))
    row = next((row for row in rows if row.name == name), None)
    if row is None:
        return Problem.of(f"There is no MCP server {name}.{_near(name, [r.name for r in rows])}")
    match verb:
        case "":
            return Say(tuple(await _looked_at(book, row)))
        case "log":
            return Say(tuple(await _log(book, name)))
        case word if word in VERBS:
            return Say.text(await book.act(word, name, more))
        case _:
            return Problem.of(f"There is no /mcp {verb}.{_near(verb, (*VERBS, 'log'))}")


def _listing(book: ServerBook, fallback: Say) -> Listing:
    async def read(name: str) -> Sequence[Block]:
        row = next((row for row in book.rows() if row.name == name), None)
        if row is None:
            return (Text("It is gone.", "warning"),)
        return await _looked_at(book, row)

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
        looks=(Look("ctrl+t", "shows the end of its log", partial(_log, book)),),
        follows=True,
    )


async def _looked_at(book: ServerBook, row: ServerRow) -> Sequence[Block]:
    memory = await asyncio.to_thread(book.memory, row.name)
    return _details(row, book.tools(row.name), memory)


async def _log(book: ServerBook, name: str) -> Sequence[Block]:
    """Read away from the loop: a disk may be slow."""
    try:
        told = await asyncio.to_thread(book.log, name)
    except GatewrightError as error:
        return (Text(str(error), "warning"),)
    path = next((row.log for row in book.rows() if row.name == name), "")
    if not told:
        return (Text(SILENT.format(name), "dim"),)
    return Text(f"The end of {path}", "dim"), Output(told)


async def _acted(book: ServerBook, verb: str, name: str) -> Outcome:
    return Say.text(await book.act(verb, name))


def _choice(row: ServerRow) -> Choice:
    count = f"{len(row.tools)} tool{'s' * (len(row.tools) > 1)}" if row.tools else ""
    tokens = f"{row.tokens:,} tokens" if row.tokens else ""
    said = (row.state, count, row.source, tokens, row.era, _first(row.error))
    detail = " · ".join(filter(None, said))
    return Choice(row.name, row.name, detail, typed=f"/mcp {row.name}")


def _table(rows: Sequence[ServerRow]) -> Table:
    cells = tuple(
        (r.name, r.source, r.state, str(len(r.tools)), f"{r.tokens:,}", r.era, _first(r.error))
        for r in rows
    )
    return Table(("Server", "Source", "State", "Tools", "Tokens", "Protocol", ""), cells)


def _details(row: ServerRow, tools: Sequence[ToolRow], memory: int) -> Sequence[Block]:
    said = (
        ("Server", row.name),
        ("Says it is", row.server),
        ("Source", f"{row.source}, {row.where}"),
        ("State", row.state),
        ("Sandbox", row.confined),
        ("Error", row.error),
        ("Next", NEXT.get(row.state, "").format(row.name)),
        ("Protocol", row.era),
        ("Process", _process(row.pid, memory)),
        ("Log", row.log),
        ("Tools", f"{len(row.tools)}, {row.tokens:,} tokens" if tools else ""),
        ("Changed", ", ".join(row.changed)),
        ("Left out", "; ".join(row.left_out)),
    )
    facts = Table(("", ""), tuple(pair for pair in said if pair[1]))
    if not tools:
        return (facts,)
    cells = tuple((t.name, t.pin, t.rule or NO_RULE, _says(t)) for t in tools)
    return facts, Table(("Tool", "Pin", "Rule", "It says"), cells)


def _says(tool: ToolRow) -> str:
    return ": ".join(filter(None, (tool.hint, tool.text)))


def _process(pid: int, memory: int) -> str:
    if not pid:
        return ""
    return f"{pid}, {memory / 1024**2:,.0f} MB in memory" if memory else str(pid)


def _near(given: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 5 ms, on a typing error only

    near = get_close_matches(given, known, n=1)
    return f" Did you mean {near[0]}?" if near else f" There are: {', '.join(known) or 'none'}."


def _first(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 60 else f"{line[:59]}…"
