"""Servers that answer astray, change without end, list too much, fork, drip, and slept."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from gatewright.mcp.errors import NotConnected
from gatewright.mcp.oauth.grant import name_of
from gatewright.mcp.oauth.logins import Login
from tests.fakes.examples import some
from tests.fakes.login_server import LoginServer
from tests.fakes.near_server import Near, instead
from tests.fakes.waiting import eventually, lasting
from tests.mcp.test_hostile import near_server
from tests.mcp.test_login import Person, serving
from tests.mcp.test_login import person as person  # the fixture
from tests.mcp.test_remote import far, running, served
from tests.mcp.test_server import Bench, connected, words
from tests.mcp.test_server import bench as bench  # the fixture


def alive(pid: int) -> bool:
    """And no zombie, which whoever adopted it has yet to bury."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def test_answers_to_what_nobody_asked_are_nobodys(bench: Bench) -> None:
    server = await connected(bench, "--astray")
    for number in range(3):
        assert words(await bench.call(server, "echo", text=f"n{number}")) == f"n{number}"
    both = await asyncio.gather(*(bench.call(server, "echo", text=each) for each in "ab"))
    assert [words(each) for each in both] == ["a", "b"]


async def test_one_that_only_answers_astray_fails_by_its_limit_and_stays(bench: Bench) -> None:
    server = await connected(bench, "--astray", timeout=300)
    failed = await bench.call(server, "hang")
    assert (failed.ok, "was stopped" in words(failed)) == (False, True)
    assert words(await bench.call(server, "echo", text="here")) == "here"


async def test_a_hundred_changes_a_second_are_few_lists(bench: Bench, tmp_path: Path) -> None:
    listed = tmp_path / "listed"
    server = await connected(bench, f"--listed={listed}")
    await bench.call(server, "changes", text="200")
    for _ in range(20):
        assert words(await bench.call(server, "echo", text="usable")) == "usable"
    await eventually(lambda: "over" in listed.read_text(encoding="utf-8"))
    lists = listed.read_text(encoding="utf-8").partition("over")[0].split()
    assert 2 <= len(lists) <= 6


async def test_a_change_in_the_middle_of_a_listing_is_not_missed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list that is on its way may be from before it."""
    names = ["one"]

    async def listed(params: dict[str, Any]) -> dict[str, Any]:
        del params
        now = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
        if len(names) == 2:
            names.append("three")
            await near.notify("notifications/tools/list_changed")
        return {"tools": now}

    near = Near({"tools/list": listed})
    instead(monkeypatch, near)
    server = near_server(bench)
    await server.ready()
    names.append("two")
    await near.notify("notifications/tools/list_changed")
    await eventually(lambda: "mcp__fake__three" in server.tools())


@pytest.mark.parametrize("page", some([10_013, 100, 7], 3))
async def test_ten_thousand_tools_are_a_thousand_and_a_sentence(bench: Bench, page: int) -> None:
    server = await connected(bench, "--more=10000", f"--page={page}")
    most = 1000 if page > 7 else 700  # a hundred pages
    assert len(server.tools()) == len(server.listing.tools) == most
    assert any("beyond 1,000 tools" in why for why in server.listing.left_out)
    assert words(await bench.call(server, "tool100", text="x")) == 'tool100 {"text": "x"}'


@pytest.mark.parametrize("dies", [False, True])
async def test_what_it_forked_does_not_outlive_it(bench: Bench, tmp_path: Path, dies: bool) -> None:
    """Not even what ignores every signal, in a session of its own."""
    path = tmp_path / "forks"
    server = await connected(bench, f"--forks={path}")
    await eventually(lambda: len(path.read_text(encoding="utf-8").split()) == 2)
    forked = [int(pid) for pid in path.read_text(encoding="utf-8").split()]
    assert all(alive(pid) for pid in forked)
    if dies:
        assert "exit code 3" in words(await bench.call(server, "die"))
    else:
        await server.close()
    await eventually(lambda: not any(alive(pid) for pid in forked))


async def dripping(data: bytes, forever: bytes) -> AsyncGenerator[bytes]:
    for start in range(len(data)):
        yield data[start : start + 1]
        await asyncio.sleep(0)
    while forever:
        yield forever
        await lasting(lambda: True, 0.02)


def drips(slow: str, *, forever: bytes) -> Starlette:
    """It answers each byte by itself; to the method `slow` it drips on and on in place of that."""

    async def answer(request: Request) -> Response:
        if request.method != "POST":
            return Response(status_code=405)
        said = await request.json()
        if "id" not in said:
            return Response(status_code=202)
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "drips", "version": "1"},
            },
            "tools/list": {
                "tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("a", "b")]
            },
            "tools/call": {"content": [{"type": "text", "text": "drop by drop"}]},
        }  # fmt: skip
        name = said.get("params", {}).get("name")
        result = results.get(said["method"])
        reply = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
        data = json.dumps({"jsonrpc": "2.0", "id": said["id"], **reply}).encode()
        if slow in (said["method"], name):
            data = b""
        kind = "text/event-stream"
        event = b"event: message\ndata: " + data + b"\n\n" if data else b": on\n"
        return StreamingResponse(dripping(event, b"" if data else forever), media_type=kind)

    return Starlette(routes=[Route("/mcp", answer, methods=["POST", "GET"])])


@pytest.mark.parametrize("forever", [b":", b"\n", b": on\n\n", b"data: x\n"])
async def test_a_call_that_drips_on_ends_by_its_limit(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, forever: bytes
) -> None:
    async with running(drips("b", forever=forever)) as url:
        server = far(bench, f"{url}/mcp")
        await server.ready()
        assert words(await bench.call(server, "a")) == "drop by drop"
        with monkeypatch.context() as hasty:
            hasty.setattr("gatewright.mcp.server.SILENT_REMOTE", 0.5)
            failed = await bench.call(server, "b")
        assert (failed.ok, "without a word" in words(failed)) == (False, True)
        assert words(await bench.call(server, "a")) == "drop by drop"
        await server.close()


@pytest.mark.parametrize(("slow", "said"), [("initialize", "in time"), ("tools/list", "listed")])
async def test_one_that_drips_at_the_beginning_is_not_waited_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, slow: str, said: str
) -> None:
    monkeypatch.setattr("gatewright.mcp.server.PAUSE", 0.01)
    monkeypatch.setattr("gatewright.mcp.talk.connection.LIST_PAGE", 0.5)
    async with running(drips(slow, forever=b":")) as url:
        server = far(bench, f"{url}/mcp", startupTimeout=500 if slow == "initialize" else 60_000)
        with pytest.raises(NotConnected, match=said):
            await server.ready()
        assert server.state == "failed"


async def test_a_machine_that_slept_goes_on_without_a_word(bench: Bench, person: Person) -> None:
    """The clock has jumped, so the token is over; nobody needs to act."""
    ahead = 0.0

    def login(url: str, client: str) -> Login:
        name = name_of(url, client)
        return Login(name, person.shelf, person.folder, clock=lambda: time.time() + ahead)

    async with serving(LoginServer(served().streamable_http_app())) as server:
        await person.logs_in(server)
        bench.login = login
        made = far(bench, f"{server.url}/mcp")
        await made.ready()
        assert words(await bench.call(made, "add", a=1, b=2)) == "3"
        before = server.paths().count("/token")
        ahead = 8 * 3600.0
        server.access.clear()
        assert words(await bench.call(made, "add", a=2, b=2)) == "4"
        refused = server.paths().count("/mcp")
        ahead = -8 * 3600.0  # and back, as a clock that was wrong
        assert words(await bench.call(made, "add", a=2, b=3)) == "5"
        assert server.paths().count("/token") == before + 1
        assert server.paths().count("/mcp") == refused + 1
        assert bench.told == []
        await made.close()
