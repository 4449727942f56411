"""From a definition to a connection that is open. Who imports this module imports the SDK."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial

import msgspec
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from gatewright.mcp.definitions import Definition
from gatewright.mcp.described import Described, Hello
from gatewright.mcp.errors import Lost, NotConnected, Refused, WantsLogin, how_ended
from gatewright.mcp.expansion import Expanded, expanded
from gatewright.mcp.network.addresses import judged
from gatewright.mcp.oauth.bearer import Bearer
from gatewright.mcp.oauth.challenge import Refusal
from gatewright.mcp.printed_headers import HeaderProgram, PrintedHeaders
from gatewright.mcp.serverlog import ServerLog
from gatewright.mcp.surroundings import Around, environment, started
from gatewright.mcp.talk.asking import Asking
from gatewright.mcp.talk.connection import Connection, Hears
from gatewright.mcp.talk.inprocess import carried_transport
from gatewright.mcp.talk.remote import Answered, http_transport, sse_transport, trusted
from gatewright.mcp.talk.results import result_of
from gatewright.mcp.talk.stdio import Ended, Streams, child_transport
from gatewright.tools.protocol import Spawn, SpawnRequest, ToolResult

START = 30.0  # seconds for the handshake of a program
FIRST = 60.0  # where it was never started before: it may have to be fetched
REMOTE = 15.0
HANDSHAKE = "2025-11-25"  # what clients with servers of their own speak
LOGGERS = ("mcp", "client", "httpx2", "httpcore2", "uvicorn")  # the second is the SDK's, too


def quiet() -> None:
    """What the SDK logs goes into our log where there is one, and never to a terminal."""
    for name in LOGGERS:
        logging.getLogger(name).addHandler(logging.NullHandler())
    logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL + 1)  # its traces hold tokens


class Open(msgspec.Struct, frozen=True):
    connection: Connection
    hello: Hello
    ended: Ended
    refusal: Refusal
    answered: Answered
    missing: tuple[str, ...] = ()

    def not_listed(self, error: Exception) -> NotConnected:
        """Why it is not: it may be that others than those who said hello need a login."""
        if self.refusal.status and not self.refusal.own:
            return NotConnected(self.refusal.sentence(), login=self.refusal)
        return NotConnected(f"its tools cannot be listed: {error}")

    @property
    def asking(self) -> Asking:
        return Asking(self.connection)

    async def call(
        self, tool: Described, arguments: dict[str, object], heard: Callable[[str], None], cap: int
    ) -> ToolResult:
        self.refusal.forget()
        self.answered.forget()
        try:
            answer = await self.connection.call(tool.name, arguments, heard)
        except Refused as refused:
            if self.refusal.status:
                raise WantsLogin(self.refusal) from refused
            if self.answered.lost_session and self.hello.era not in MODERN_PROTOCOL_VERSIONS:
                await self.connection.close()
                raise Lost("it forgot the session") from refused
            raise
        return result_of(answer, tool, cap)


async def opened(
    definition: Definition, around: Around, log: ServerLog, hears: Hears, *, era: str, known: bool
) -> Open:
    """Raises NotConnected."""
    filled = expanded(definition, around.variables(definition))
    answered, ended, refusal = Answered(), Ended(), Refusal()
    seconds = definition.start_seconds or (
        REMOTE if definition.remote else START if known else FIRST
    )
    if definition.remote:
        where = await judged(filled.url)
        if isinstance(where, str):
            raise NotConnected(where)
        answered.where = where
        refusal = await _let_in(definition, filled, around, answered)
        answered.trust = await trusted(filled.url)
        made = _remote(definition, filled, answered)
    elif definition.transport == "sdk":
        if around.carry is None:
            raise NotConnected("it is in the process of a client, and there is none")
        made, era = partial(carried_transport, definition.name, around.carry), HANDSHAKE
    else:
        request = _request(definition, filled, around)
        made = partial(child_transport, request, _spawn(definition, filled, around), log, ended)
    connection = Connection(made, hears, era, answered.closed)
    try:
        hello = await connection.open(seconds)
    except NotConnected as error:
        raise _explained(error, definition, answered, refusal, ended, log) from error
    return Open(connection, hello, ended, refusal, answered, filled.missing)


async def _let_in(
    definition: Definition, filled: Expanded, around: Around, answered: Answered
) -> Refusal:
    """With what lets it in: a login that is kept, or headers of its own. Raises NotConnected."""
    helper = HeaderProgram(definition, around) if definition.headers_helper else None
    headers: Mapping[str, str] = await helper.headers() if helper is not None else dict[str, str]()
    refusal = Refusal(
        own=any(name.lower() == "authorization" for name in (*filled.headers, *headers))
    )
    if around.login is not None and not refusal.own:
        refusal.login = around.login(filled.url, definition.oauth.client_id)
        answered.auth = Bearer(filled.url, refusal.login, refusal)
    if helper is not None:
        answered.auth = PrintedHeaders(filled.url, helper, headers, answered.auth)
    return refusal


def _remote(
    definition: Definition, filled: Expanded, answered: Answered
) -> Callable[[], AbstractAsyncContextManager[Streams]]:
    transport = sse_transport if definition.transport == "sse" else http_transport
    return partial(transport, filled.url, filled.headers, answered)


def _spawn(definition: Definition, filled: Expanded, around: Around) -> Spawn:
    """Raises NotConnected: what is to be confined never runs without."""
    if around.confined is not None:
        return around.confined(definition, filled.env)
    if definition.sandbox is not None:
        raise NotConnected("it runs in the sandbox, and there is none here")
    return around.spawn


def _request(definition: Definition, filled: Expanded, around: Around) -> SpawnRequest:
    cwd = around.root / filled.cwd if filled.cwd else around.root
    program = started(filled, definition, around)
    if not program:
        raise NotConnected(f"there is no program {definition.command} on the PATH")
    given = environment(definition, around)
    return SpawnRequest(argv=(program, *filled.args), cwd=cwd, env={**given, **filled.env})


def _explained(
    error: NotConnected,
    definition: Definition,
    answered: Answered,
    refusal: Refusal,
    ended: Ended,
    log: ServerLog,
) -> NotConnected:
    if definition.remote and answered.status:
        status = answered.status
        if status in (401, 403) and refusal.own:
            return NotConnected(f"it refuses the Authorization of its definition (HTTP {status})")
        if status in (401, 403):
            refusal.status = status
            return NotConnected(refusal.sentence(), login=None if refusal.why else refusal)
        again = status >= 500 or status == 429
        return NotConnected(f"it answered with HTTP {status}", again=again)
    if ended.alone:
        last = log.last()
        how = f"it ended with {how_ended(ended.code)}"
        return NotConnected(f"{how}:\n{last}" if last else how)
    return NotConnected(str(error), again=error.again and definition.remote)
