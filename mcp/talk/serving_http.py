"""Our tools over HTTP, to programs of this machine that have the token: both eras, many clients.

Whoever asks is judged by the head of the request alone, before anything else of it is read. Each
client has calls, questions and a session of its own, which no other can answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

import mcp_types as types
import msgspec
import uvicorn
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from gatewright.mcp.served import Calls
from gatewright.mcp.talk.lines import MOST
from gatewright.mcp.talk.serving import Client, Context, asks_of, client_name, server_of

PATH = "/mcp"
HOSTS = ("127.0.0.1", "localhost")
MOST_CONNECTIONS = 128  # at a time: a program that opens more is told to come back
MOST_CLIENTS = 8  # with a session of ours; of those that do nothing the oldest makes room
MOST_OPEN = 64  # clients that have said hello
HEAD = 10.0  # seconds for the head of a first request
IDLE = 30 * 60.0  # seconds until a client that does nothing is forgotten
END = 2  # seconds for answers to be written at the end
FULL = "{} clients are at work here already: try again later."


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """What is served: `calls` makes the calls of a client that comes."""

    calls: Callable[[], Calls]
    version: str
    token: str


def listening(port: int) -> socket.socket:
    """On this machine alone; 0 takes a free port. Raises OSError."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOSTS[0], port))
        made.listen(MOST_CONNECTIONS)  # who reads where it is may come at once
    except OSError:
        made.close()
        raise
    return made


def address(listens: socket.socket) -> str:
    return f"http://{HOSTS[0]}:{listens.getsockname()[1]}{PATH}"


async def serve_http(served: Served, listens: socket.socket) -> None:
    """Until cancelled; then nothing of anybody's calls is under way any more."""
    port = int(listens.getsockname()[1])
    clients = _Clients(served.calls)
    manager = StreamableHTTPSessionManager(
        server_of(clients.of, served.version),
        session_idle_timeout=IDLE,
        max_request_body_size=MOST,
        max_sessions=MOST_OPEN,
    )
    door = _Door(clients.seen(manager.asgi_app), served.token, port)
    try:
        async with manager.run(), _listened(door, listens) as ended:
            await ended
    finally:
        await clients.close()


@asynccontextmanager
async def _listened(app: ASGIApp, listens: socket.socket) -> AsyncGenerator[asyncio.Task[None]]:
    config = uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=END,
    )
    server = _Listener(config)
    task = asyncio.create_task(server.serve(sockets=[listens]), name="HTTP for clients")
    try:
        yield task
    finally:
        server.should_exit = server.force_exit = True
        await asyncio.wait([task])


class _Listener(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Signals are the business of whoever serves."""
        yield


class _Connection(H11Protocol):
    """Closed where nothing is asked: else programs without a token could take all there are."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(HEAD, self._look)

    def _look(self) -> None:
        if not self.cycle and not self.transport.is_closing():
            self.transport.close()


class _Door:
    """Lets in who names this machine as it is called, comes from no page, and has the token.

    A page in a browser can send here, too, by a name that came to mean this machine: its `Host` and
    its `Origin` say so.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(f"{host}:{port}".encode() for host in HOSTS)
        self._origins = frozenset(b"http://" + host for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if (refusal := self._refusal(scope)) is not None:
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(bytes(name).lower(), []).append(bytes(value).strip())
        if not _one_of(given.get(b"host", []), self._hosts):
            return _refused(421, "This server is named by another host.")
        if b"origin" in given and not _one_of(given[b"origin"], self._origins):
            return _refused(403, "Pages of other origins have no business here.")
        if not self._known(given.get(b"authorization", [])):
            answer = _refused(401, "The token is missing, or another one.")
            answer.headers["www-authenticate"] = "Bearer"
            return answer
        if scope["path"] != PATH:
            return _refused(404, f"There is {PATH} here and nothing else.")
        return None

    def _known(self, given: list[bytes]) -> bool:
        if len(given) != 1:
            return False
        kind, _, word = given[0].partition(b" ")
        right = hmac.compare_digest(word.strip(), self._token)
        return right and kind.lower() == b"bearer"


def _one_of(given: list[bytes], known: frozenset[bytes]) -> bool:
    return len(given) == 1 and given[0].lower() in known


def _refused(status: int, why: str) -> Response:
    return Response(f"{why}\n", status, {"connection": "close"}, "text/plain")


class _Clients:
    """Who has a session of ours, by what tells them apart.

    In the older era that is the id that nobody can guess, in the newer one what a client says of
    itself: who calls itself the same and can do the same is one client.
    """

    def __init__(self, calls: Callable[[], Calls]) -> None:
        self._calls = calls
        self._all: dict[str, Client] = {}  # who was heard of last is last
        self._late: dict[str, asyncio.TimerHandle] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    def of(self, ctx: Context) -> Client:
        """Raises MCPError where there are too many."""
        key = _key(ctx)
        client = self._all.pop(key, None)
        if client is None:
            self._make_room()
            client = Client(self._calls())
        self._all[key] = client
        self._put_off(key)
        return client

    def _make_room(self) -> None:
        if len(self._all) < MOST_CLIENTS:
            return
        idle = next((key for key, client in self._all.items() if not client.busy), None)
        if idle is None:
            raise MCPError(code=types.INTERNAL_ERROR, message=FULL.format(MOST_CLIENTS))
        self._left(idle)

    def _put_off(self, key: str) -> None:
        """A client is forgotten when it has done nothing for so long."""
        if (before := self._late.pop(key, None)) is not None:
            before.cancel()
        self._late[key] = asyncio.get_running_loop().call_later(IDLE, self._idle, key)

    def _idle(self, key: str) -> None:
        if self._all[key].busy:
            self._put_off(key)
        else:
            self._left(key)

    def _left(self, key: str) -> None:
        if (client := self._all.pop(key, None)) is None:
            return
        self._late.pop(key).cancel()
        task = asyncio.create_task(client.close(), name="a client leaves")
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def seen(self, app: ASGIApp) -> ASGIApp:
        """`app`, of which a client may say that it leaves."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            async def told(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] < 400:
                    self._left(Request(scope).headers.get(MCP_SESSION_ID_HEADER, ""))
                await send(message)

            await app(scope, receive, told if scope["method"] == "DELETE" else send)

        return watched

    async def close(self) -> None:
        for key in tuple(self._all):
            self._left(key)
        if self._leaving:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait(self._leaving)


def _key(ctx: Context) -> str:
    request = ctx.request
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS and isinstance(request, Request):
        return request.headers[MCP_SESSION_ID_HEADER]
    return f"{client_name(ctx)} {asks_of(ctx)}"
