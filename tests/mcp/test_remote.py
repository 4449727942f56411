"""Servers behind an address, over the SDK's own server on loopback, and addresses that are none."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from gatewright.mcp.definitions import read
from gatewright.mcp.errors import NotConnected
from gatewright.mcp.network.addresses import NEVER, PLAIN, wrong_address
from gatewright.mcp.server import Server
from gatewright.mcp.talk.remote import Answered, client
from tests.fakes.waiting import eventually
from tests.mcp.test_server import Bench, words
from tests.mcp.test_server import bench as bench  # the fixture


def served() -> MCPServer:
    server = MCPServer("far", instructions="Far away.")

    @server.tool()
    def add(a: int, b: int) -> str:
        """Add two numbers."""
        return str(a + b)

    @server.tool()
    async def header(context: Context) -> str:
        """The key that came along."""
        request: Any = context.request_context.request
        return str(request.headers.get("x-key"))

    del add, header
    return server


@asynccontextmanager
async def running(app: Any, port: int = 0) -> AsyncGenerator[str]:
    """Its address."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve([listening]))
    await eventually(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listening.close()


def far(bench: Bench, url: str, kind: str = "http", **more: Any) -> Server:
    made = Server(read("fake", {"type": kind, "url": url, **more}, "user", "here"), bench.ports())
    bench.servers.append(made)
    return made


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_it_is_connected_and_called_with_its_headers(bench: Bench, kind: str) -> None:
    app = served().streamable_http_app() if kind == "http" else served().sse_app()
    async with running(app) as url:
        path = "mcp" if kind == "http" else "sse"
        server = far(bench, f"{url}/{path}", kind, headers={"X-Key": "${SECRET_TOKEN}"})
        await server.ready()
        assert server.hello.era == "2026-07-28"
        assert words(await bench.call(server, "add", a=1, b=2)) == "3"
        assert words(await bench.call(server, "header")) == "s3cret"
        await server.close()


@pytest.mark.parametrize(
    ("status", "state", "said"),
    [
        (401, "needs-auth", "it wants a login (HTTP 401)"),
        (404, "failed", "it answered with HTTP 404"),
        (503, "failed", "it answered with HTTP 503"),
    ],
)
async def test_what_it_answers_is_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, status: int, state: str, said: str
) -> None:
    monkeypatch.setattr("gatewright.mcp.server.PAUSE", 0.01)
    asked: list[str] = []

    async def refuse(request: Request) -> Response:
        asked.append(request.method)
        return Response(status_code=status)

    async with running(Starlette(routes=[Route("/mcp", refuse, methods=["POST", "GET"])])) as url:
        server = far(bench, f"{url}/mcp")
        with pytest.raises(NotConnected):
            await server.ready()
        assert (server.state, said in server.error) == (state, True)
        assert (len(asked) > 3) == (status == 503), "only what may pass is tried again"


async def test_a_redirect_elsewhere_gets_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewright.mcp.server.PAUSE", 0.01)
    reached: list[str] = []

    async def there(request: Request) -> Response:
        reached.append(str(request.headers.get("x-key")))
        return Response(status_code=200)

    async with running(Starlette(routes=[Route("/mcp", there, methods=["POST"])])) as other:

        async def away(request: Request) -> Response:
            return RedirectResponse(f"{other}/mcp", status_code=307)

        async with running(Starlette(routes=[Route("/mcp", away, methods=["POST"])])) as url:
            server = far(bench, f"{url}/mcp", headers={"X-Key": "${SECRET_TOKEN}"})
            with pytest.raises(NotConnected):
                await server.ready()
    assert reached == []


async def test_nothing_packed_is_unpacked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousandth of what the memory holds would be enough."""
    monkeypatch.setattr("gatewright.mcp.server.PAUSE", 0.01)
    asked: list[str] = []

    async def packed(request: Request) -> Response:
        asked.append(request.headers["accept-encoding"])
        info = {"name": "far", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
        said = {"jsonrpc": "2.0", "id": (await request.json()).get("id"), "result": result}
        data = gzip.compress(json.dumps(said).encode())
        kind = {"content-type": "application/json", "content-encoding": "gzip"}
        return Response(data, headers=kind)

    async with running(Starlette(routes=[Route("/mcp", packed, methods=["POST"])])) as url:
        server = far(bench, f"{url}/mcp")
        with pytest.raises(NotConnected, match="packed"):
            await server.ready()
    assert set(asked) == {"identity"}


async def test_a_stream_that_ends_at_once_is_not_opened_in_a_loop(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewright.mcp.talk.remote.PAUSE", 3600)
    opened: list[str] = []

    async def events(request: Request) -> Response:
        if request.method == "GET":
            opened.append(request.url.path)
            return Response("retry: 0\n\n", headers={"content-type": "text/event-stream"})
        said = await request.json()
        if "id" not in said:
            return Response(status_code=202)
        info = {"name": "far", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
        answer = {"jsonrpc": "2.0", "id": said["id"], "result": hello}
        return JSONResponse(answer, headers={"mcp-session-id": "s"})

    async with running(Starlette(routes=[Route("/mcp", events, methods=["POST", "GET"])])) as url:
        server = far(bench, f"{url}/mcp")
        await server.ready()
        await eventually(lambda: len(opened) >= 5)
        for _ in range(50):
            await server.roots_changed()  # the line is as usable as before
        assert len(opened) == 5
        await server.close()


@pytest.mark.parametrize(("streams", "status"), [(("GET",), 200), (("GET", "POST"), 400)])
async def test_an_answer_that_is_no_stream_has_a_limit_whatever_it_says(
    monkeypatch: pytest.MonkeyPatch, streams: tuple[str, ...], status: int
) -> None:
    monkeypatch.setattr("gatewright.mcp.talk.remote.MOST", 1000)

    async def events(request: Request) -> Response:
        del request
        return Response("x" * 2000, status, headers={"content-type": "text/event-stream"})

    async with (
        running(Starlette(routes=[Route("/", events, methods=["POST"])])) as url,
        client({}, Answered(), streams=streams) as made,
    ):
        with pytest.raises(httpx2.ReadError, match="more than"):
            await made.post(url)


async def test_one_that_is_gone_is_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatewright.mcp.server.PAUSE", 0.01)
    async with running(served().streamable_http_app()) as url:
        server = far(bench, f"{url}/mcp")
        await server.ready()
    result = await bench.call(server, "add", a=1, b=2)
    assert not result.ok
    assert "ended during the call" in words(result)
    again = await bench.call(server, "add", a=1, b=2)
    assert "is not connected" in words(again)


async def test_one_of_the_newer_era_that_is_slow_to_say_so(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It refuses the older era by whatever error: then its answer is waited for."""
    monkeypatch.setattr("gatewright.mcp.talk.connection.PROBE", 0.0)
    inner = served().streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and b"mcp-protocol-version" not in headers:
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32020, "message": "no"}}
            await JSONResponse(error, status_code=400)(scope, receive, send)
            return
        await inner(scope, receive, send)

    async with running(app) as url:
        server = far(bench, f"{url}/mcp")
        await server.ready()
        assert server.hello.era == "2026-07-28"
        await server.close()


class TestComingBack:
    async def test_it_is_connected_again_by_itself(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gatewright.mcp.returning.PAUSE", 0.2)
        async with running(served().streamable_http_app()) as url:
            server = far(bench, f"{url}/mcp")
            await server.ready()
        port = int(url.rpartition(":")[2])
        assert not (await bench.call(server, "add", a=1, b=2)).ok
        await eventually(lambda: server.state == "pending")
        assert server.error == "the connection was lost"
        async with running(served().streamable_http_app(), port):
            await eventually(lambda: server.state == "connected")
            assert words(await bench.call(server, "add", a=1, b=2)) == "3"
            assert bench.told == []
            await server.close()

    async def test_it_ends_after_some_tries_and_is_said_once(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gatewright.mcp.returning.PAUSE", 0.002)
        async with running(served().streamable_http_app()) as url:
            server = far(bench, f"{url}/mcp")
            await server.ready()
        await bench.call(server, "add", a=1, b=2)
        await eventually(lambda: server.state == "failed")
        assert len(bench.told) == 1

    async def test_switched_off_it_stays_off(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gatewright.mcp.returning.PAUSE", 0.002)
        async with running(served().streamable_http_app()) as url:
            server = far(bench, f"{url}/mcp")
            await server.ready()
        await bench.call(server, "add", a=1, b=2)
        await server.turn("disabled")
        assert (server.state, server.error, bench.told) == ("disabled", "", [])

    async def test_a_forgotten_session_is_begun_anew_and_the_call_made(self, bench: Bench) -> None:
        """It was refused, so it had no effect: it is made again, read-only or not."""
        inner, forgotten = served().streamable_http_app(), set[str]()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            headers = dict(scope.get("headers", ()))
            if headers.get(b"mcp-protocol-version") == b"2026-07-28":
                await Response(status_code=400)(scope, receive, send)
            elif headers.get(b"mcp-session-id", b"").decode() in forgotten:
                await Response(status_code=404)(scope, receive, send)
            else:
                seen.add(headers.get(b"mcp-session-id", b"").decode())
                await inner(scope, receive, send)

        seen = set[str]()
        async with running(app) as url:
            server = far(bench, f"{url}/mcp")
            await server.ready()
            assert server.hello.era == "2025-11-25"
            forgotten |= seen - {""}
            assert forgotten
            assert words(await bench.call(server, "add", a=1, b=2)) == "3"
            await server.close()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:1/mcp", ""),
        ("http://10.0.0.1/mcp", ""),
        ("https://127.0.0.1/mcp", ""),
        ("http://93.184.216.34/mcp", PLAIN),
        ("http://169.254.169.254/latest", NEVER),
        ("https://169.254.169.254/", NEVER),
        ("http://[fe80::1]/", NEVER),
        ("http://[::ffff:169.254.169.254]/", NEVER),
        ("http://metadata.google.internal/", NEVER),
        ("https://metadata.google.internal./", NEVER),
        ("ftp://127.0.0.1/", "its address must begin with"),
        ("https://", "its address must begin with"),
        ("https://[::1", "its address cannot be read"),
        ("http://127.0.0.1\\@example.com/", "parsers disagree"),
    ],
)
async def test_addresses(url: str, why: str) -> None:
    found = await wrong_address(url)
    assert why in found if why else found == ""
