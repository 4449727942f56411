"""Servers that others wrote, each by itself; `tests/e2e/test_real_servers.py` has their stories."""

from __future__ import annotations

import json
from typing import Any

from gatewright.mcp.definitions import read
from gatewright.mcp.server import Server
from tests.mcp.installed import of_npm, of_python
from tests.mcp.test_server import Bench, words
from tests.mcp.test_server import bench as bench  # the fixture


def real(bench: Bench, command: str, *args: str) -> Server:
    made = Server(read("fake", {"command": command, "args": args}, "user", "h"), bench.ports())
    bench.servers.append(made)
    return made


async def called(bench: Bench, server: Server, tool: str, **input: Any) -> str:
    result = await bench.call(server, tool, **input)
    assert result.ok, words(result)
    return words(result)


async def test_time(bench: Bench) -> None:
    server = real(bench, of_python("mcp-server-time"))
    told = await called(
        bench, await ready(server), "convert_time",
        source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo",
    )  # fmt: skip
    assert json.loads(told)["target"]["timezone"] == "Asia/Tokyo"
    wrong = await bench.call(server, "convert_time", source_timezone="UTC")
    assert "is a required property" in words(wrong)


async def ready(server: Server) -> Server:
    await server.ready()
    return server


async def test_git(bench: Bench) -> None:
    server = await ready(real(bench, of_python("mcp-server-git")))
    assert len(server.tools()) >= 10
    refused = await bench.call(server, "git_status", repo_path=str(bench.folder))
    assert not refused.ok


async def test_fetch_is_listed(bench: Bench) -> None:
    server = await ready(real(bench, of_python("mcp-server-fetch")))
    assert list(server.tools()) == ["mcp__fake__fetch"]


async def test_everything(bench: Bench) -> None:
    server = await ready(real(bench, of_npm("mcp-server-everything"), "stdio"))
    assert await called(bench, server, "echo", message="hi") == "Echo: hi"
    shown = await bench.call(server, "get-tiny-image")
    assert "[The picture cannot be shown" in words(shown), "what it sends is a broken PNG"
    assert await called(
        bench, server, "trigger-long-running-operation", duration=1, steps=4
    )  # fmt: skip
    assert bench.progress
    data = await bench.call(server, "get-structured-content", location="New York")
    assert set(data.data) >= {"temperature"}


async def test_memory(bench: Bench) -> None:
    server = await ready(real(bench, of_npm("mcp-server-memory")))
    assert "entities" in await called(bench, server, "read_graph")
