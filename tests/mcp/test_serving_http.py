"""Our tools over HTTP: who is let in, both eras, and clients that keep nothing of each other's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from gatewright.agent.launch.exits import UsageError
from gatewright.agent.subcommands.serving.door import Http, entry, http_of, token_of
from gatewright.agent.version import VERSION
from gatewright.mcp.served import Calls
from gatewright.mcp.talk.opening import LOGGERS, quiet
from gatewright.mcp.talk.serving_http import PATH, Served, listening, serve_http
from tests.fakes.waiting import being_written, eventually
from tests.mcp.test_remote import far
from tests.mcp.test_server import Bench, words
from tests.mcp.test_server import bench as bench  # the fixture
from tests.mcp.test_serving import ERAS, House, Person, built

TOKEN = "a-word-that-nobody-would-guess-0123456789"
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
TAKES = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "raw", "version": "1"},
}


@dataclass
class Door:
    url: str
    house: House
    made: list[Calls]

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://").partition("/")[0]

    @property
    def port(self) -> str:
        return self.host.partition(":")[2]

    @asynccontextmanager
    async def client(self, era: str, person: Person | None = None) -> AsyncGenerator[Client]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
            Client(
                streamable_http_client(self.url, http_client=http),
                mode=era,
                elicitation_callback=person,
            ) as client,
        ):
            yield client

    async def ask(
        self, method: str = "tools/list", headers: dict[str, str] | None = None, **params: Any
    ) -> httpx2.Response:
        given = {"Authorization": f"Bearer {TOKEN}", **TAKES, **(headers or {})}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        async with httpx2.AsyncClient() as http:
            return await http.post(self.url, json=message, headers=given)

    def kept(self) -> str:
        files = [*self.house.home.rglob("*"), *self.house.project.rglob("*")]
        return "".join(
            f.read_text(encoding="utf-8", errors="replace") for f in files if f.is_file()
        )


@asynccontextmanager
async def door(folder: Path, *flags: str) -> AsyncGenerator[Door]:
    house = built(folder, flags)
    made: list[Calls] = []

    def calls() -> Calls:
        made.append(house.calls())
        return made[-1]

    with listening(0) as listens:
        served = Served(calls=calls, version=VERSION, token=TOKEN)
        task = asyncio.create_task(serve_http(served, listens))
        try:
            yield Door(f"http://127.0.0.1:{listens.getsockname()[1]}{PATH}", house, made)
        finally:
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled() or task.exception() is None, task


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


@ERAS
async def test_tools_are_listed_and_called_and_who_is_there_is_asked(
    tmp_path: Path, era: str
) -> None:
    person = Person()
    async with door(tmp_path) as at, at.client(era, person) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"Read", "Bash"}
        assert "alpha" in text_of(await client.call_tool("Read", {"file_path": "notes.txt"}))
        written = {"file_path": "new.txt", "content": "hello\n"}
        assert not (await client.call_tool("Write", written)).is_error
        assert (at.house.project / "new.txt").read_text(encoding="utf-8") == "hello\n"
        (asked,) = person.asked
        assert "hello" in asked.message


async def test_our_own_client_comes_by_the_entry_that_is_shown(
    bench: Bench, tmp_path: Path
) -> None:
    async with door(tmp_path / "there") as at:
        shown = json.loads(entry("agent", at.url, TOKEN))["mcpServers"]["agent"]
        server = far(bench, shown["url"], shown["type"], headers=shown["headers"])
        await server.ready()
        assert server.hello.era == "2026-07-28"
        assert "alpha" in words(await bench.call(server, "Read", file_path="notes.txt"))
        await server.close()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "localhost.evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": "localhost:{port}"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://evil.example:{port}"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
    ],
)
async def test_who_is_let_in_is_judged_by_the_head(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    async with door(tmp_path) as at:
        given = {name: value.replace("{port}", at.port) for name, value in headers.items()}
        answer = await at.ask("initialize", given, **HELLO)
        assert answer.status_code == status, answer.text
        assert TOKEN not in answer.text
        if status == 401:
            assert answer.headers["www-authenticate"] == "Bearer"
        assert at.made == [], "nothing is opened for who only knocks"


async def test_a_head_that_says_two_things_is_none(tmp_path: Path) -> None:
    async with door(tmp_path) as at:
        own = [("Host", at.host), ("Authorization", f"Bearer {TOKEN}"), ("Content-Length", "0")]
        for more in (
            ("Host", at.host),
            ("Origin", "http://evil.example"),
            ("Authorization", "Bearer other"),
        ):
            head = "".join(f"{name}: {value}\r\n" for name, value in (*own, more))
            assert await _status(at, head) in (400, 401, 403, 421), more
        doubled = "".join(f"{name}: {value}\r\n" for name, value in own)
        assert await _status(at, f"{doubled}Origin: http://{at.host}\r\nOrigin: null\r\n") == 403


async def _status(at: Door, head: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(at.port))
    writer.write(f"POST {PATH} HTTP/1.1\r\n{head}\r\n".encode())
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


async def test_who_asks_nothing_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections are few, and anybody on this machine may open them."""
    monkeypatch.setattr("gatewright.mcp.talk.serving_http.MOST_CONNECTIONS", 4)
    monkeypatch.setattr("gatewright.mcp.talk.serving_http.HEAD", 0.5)
    async with door(tmp_path) as at:
        idle = [await asyncio.open_connection("127.0.0.1", int(at.port)) for _ in range(8)]
        idle[0][1].write(f"POST {PATH} HTTP/1.1\r\nHost: ".encode())
        for reader, _ in idle:
            assert await reader.read() == b""
        assert (await at.ask("initialize", **HELLO)).status_code == 200
        for _, writer in idle:
            writer.close()


async def test_what_is_no_request_writes_nothing_to_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nobody needs a token for that: it would fill the screen of who serves."""
    quiet()
    async with door(tmp_path) as at:
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(at.port))
            writer.write(b"\x16\x03\x01 what is this\r\n\r\n")
            assert await reader.read()
            writer.close()
    assert capfd.readouterr().err == ""
    assert "uvicorn" in LOGGERS


async def test_a_body_of_who_has_no_token_is_not_read(tmp_path: Path) -> None:
    async with door(tmp_path) as at:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(at.port))
        head = f"POST {PATH} HTTP/1.1\r\nHost: {at.host}\r\nContent-Length: 40000000\r\n\r\n"
        writer.write(head.encode())
        said = await reader.read()
        assert said.startswith(b"HTTP/1.1 401")
        writer.close()


async def test_a_message_of_40_mb_is_refused_and_the_next_one_answered(tmp_path: Path) -> None:
    async with door(tmp_path) as at, at.client("auto") as client:
        big = await at.ask("tools/call", MODERN, name="Read", arguments={"x": "a" * 40_000_000})
        assert big.status_code == 413
        assert len((await client.list_tools()).tools) == 6


async def _hello(at: Door) -> dict[str, str]:
    answer = await at.ask("initialize", **HELLO)
    assert answer.status_code == 200
    return {"Mcp-Session-Id": answer.headers["mcp-session-id"]}


async def test_nobody_else_answers_a_question(tmp_path: Path) -> None:
    """In the newer era a question waits with a word, which counts for the client it was put to."""
    arguments = {"file_path": "new.txt", "content": "x"}
    yes: types.InputResponses = {
        "answer": types.ElicitResult(action="accept", content={"answer": "Yes, once"})
    }
    async with door(tmp_path) as at, at.client("auto", Person()) as client:
        first = await client.session.call_tool("Write", arguments, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
        async with at.client("auto") as other:  # who cannot ask is another client
            with pytest.raises(MCPError, match="No call waits"):
                await other.session.call_tool(
                    "Write", arguments, input_responses=yes, request_state=first.request_state
                )
        assert not (at.house.project / "new.txt").exists()
        last = await client.session.call_tool(
            "Write", arguments, input_responses=yes, request_state=first.request_state
        )
        assert isinstance(last, types.CallToolResult)
        assert not last.is_error


async def test_an_answer_in_another_session_is_none(tmp_path: Path) -> None:
    """In the older era an answer is a message of its own, which any session could send."""
    async with door(tmp_path) as at:
        one, other = await _hello(at), await _hello(at)
        call = {
            "jsonrpc": "2.0",
            "id": 7,
            "method": "tools/call",
            "params": {"name": "Write", "arguments": {"file_path": "new.txt", "content": "x"}},
        }
        head = {"Authorization": f"Bearer {TOKEN}", **TAKES}
        async with (
            httpx2.AsyncClient(headers=head, timeout=60) as http,
            http.stream("POST", at.url, json=call, headers=one) as stream,
        ):
            lines = stream.aiter_lines()
            asked = await _said(lines)
            assert asked["method"] == "elicitation/create"
            yes = {"action": "accept", "content": {"answer": "Yes, once"}}
            answer = {"jsonrpc": "2.0", "id": asked["id"], "result": yes}
            await http.post(at.url, json=answer, headers=other)
            no = {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}}
            await http.post(at.url, json=no, headers=one)
            result = await _said(lines)
        assert result["id"] == 7
        assert result["result"]["isError"]
        assert not (at.house.project / "new.txt").exists()


async def _said(lines: Any) -> dict[str, Any]:
    async for line in lines:
        if line.startswith("data: {"):
            return dict(json.loads(line.removeprefix("data: ")))
    raise AssertionError("nothing was said")


async def test_sessions_are_told_apart_and_end_when_their_client_leaves(tmp_path: Path) -> None:
    async with door(tmp_path) as at:
        forged = await at.ask("tools/list", {"Mcp-Session-Id": "0" * 32})
        assert forged.status_code == 404
        async with at.client("legacy") as one, at.client("legacy") as other:
            for client in (one, other):
                await client.call_tool("Read", {"file_path": "notes.txt"})
            assert len(at.made) == 2
        names = {path.name for path in at.house.home.rglob("projects/*/*.jsonl")}
        assert len(names) == 2
        known = await _hello(at)
        async with httpx2.AsyncClient() as http:
            head = {"Authorization": f"Bearer {TOKEN}", **known}
            assert (await http.delete(at.url, headers=head)).status_code == 200
        assert (await at.ask("tools/list", known)).status_code == 404


@ERAS
async def test_a_cancelled_call_ends_what_it_began(tmp_path: Path, era: str) -> None:
    async with door(tmp_path, "--allowedTools=Bash") as at, at.client(era) as client:
        call = asyncio.create_task(client.call_tool("Bash", {"command": "sh hang.sh"}))
        pid = int(await being_written(at.house.project / "pid"))
        call.cancel()
        await asyncio.wait([call])
        await eventually(lambda: not _lives(pid), what="the end of the command")


async def test_a_client_that_leaves_takes_its_calls_along(tmp_path: Path) -> None:
    async with door(tmp_path, "--allowedTools=Bash") as at:
        async with at.client("legacy") as client:
            call = asyncio.create_task(client.call_tool("Bash", {"command": "sh hang.sh"}))
            pid = int(await being_written(at.house.project / "pid"))
            await client.session.send_ping()
        await asyncio.wait([call])
        await eventually(lambda: not _lives(pid), what="the end of the command")


async def test_closing_in_mid_call_leaves_nothing(tmp_path: Path) -> None:
    async with door(tmp_path, "--allowedTools=Bash") as at:
        params: dict[str, Any] = {"name": "Bash", "arguments": {"command": "sh hang.sh"}}
        known = await _hello(at)
        call = asyncio.create_task(at.ask("tools/call", known, **params))
        pid = int(await being_written(at.house.project / "pid"))
    assert not _lives(pid)
    await asyncio.wait([call])
    call.exception()


async def test_too_many_clients_are_refused_and_idle_ones_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewright.mcp.talk.serving_http.MOST_CLIENTS", 2)
    async with door(tmp_path, "--allowedTools=Bash", "--no-session") as at:
        first, second, third = [await _hello(at) for _ in range(3)]
        for name, known in (("one", first), ("two", second)):
            (at.house.project / f"{name}.sh").write_text(
                f"echo $$ > {name}\nexec sleep 99\n", "utf-8"
            )
            params = {"name": "Bash", "arguments": {"command": f"sh {name}.sh"}}
            call = asyncio.create_task(at.ask("tools/call", known, **params))
            call.add_done_callback(lambda done: done.cancelled() or done.exception())
            await being_written(at.house.project / name)
        answer = await at.ask("tools/list", third)
        assert "clients are at work here already" in answer.text
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
            await http.delete(at.url, headers=first)
        answer = await at.ask("tools/list", third)
        assert '"tools"' in answer.text


async def test_a_flood_of_calls_is_answered_whole(tmp_path: Path) -> None:
    async with door(tmp_path) as at, at.client("auto") as client:
        wanted = [client.call_tool("Read", {"file_path": "notes.txt"}) for _ in range(64)]
        answers = await asyncio.gather(*wanted, return_exceptions=True)
        assert len(answers) == 64
        good = [a for a in answers if isinstance(a, types.CallToolResult) and not a.is_error]
        assert len(good) >= 32


async def test_the_token_is_kept_nowhere(tmp_path: Path) -> None:
    async with door(tmp_path, "--allowedTools=Bash") as at, at.client("auto") as client:
        said = await client.call_tool("Bash", {"command": "env; cat /proc/self/environ"})
        assert TOKEN not in text_of(said)
        assert TOKEN not in at.kept()


def test_the_flag_takes_a_port_or_none() -> None:
    assert http_of(["--tools", "core"]) == (None, ["--tools", "core"])
    assert http_of(["--http", "--tools", "core"]) == (Http(), ["--tools", "core"])
    assert http_of(["--http", "8123", "--bare"]) == (Http(8123), ["--bare"])
    assert http_of(["--bare", "--http=8123"]) == (Http(8123), ["--bare"])
    for wrong in (["--http=x"], ["--http", "70000"], ["--http", "--http"], ["--http="]):
        with pytest.raises(UsageError):
            http_of(wrong)


def test_a_token_of_the_environment_is_shown_by_its_name() -> None:
    assert token_of({"GATEWRIGHT_SERVE_TOKEN": TOKEN}) == (TOKEN, "${GATEWRIGHT_SERVE_TOKEN}")
    made, shown = token_of({})
    assert made == shown
    assert len(made) > 40
    assert token_of({})[0] != made
    for wrong in ("short", "a b" * 20, "ä" * 40, "x" * 600):
        with pytest.raises(UsageError):
            token_of({"GATEWRIGHT_SERVE_TOKEN": wrong})


def _lives(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[
            0
        ] != b"Z"
    except OSError:
        return False
