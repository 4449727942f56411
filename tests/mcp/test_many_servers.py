"""Fifty servers with two thousand tools: what a model is sent stays small, and byte for byte."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec

from gatewright.agent.context.tool_search import SearchTools
from gatewright.agent.context.tool_sources import ToolSources
from gatewright.mcp.definitions import Definition, read
from gatewright.mcp.described import Described, Hello, Listing
from gatewright.mcp.known import KnownServers
from gatewright.mcp.servers import PER_TOKEN, Servers
from gatewright.tools.executor import RawExecutor
from gatewright.tools.protocol import ToolCall
from gatewright.tools.registry import BuiltinTools
from tests.mcp.test_server import Bench, words
from tests.mcp.test_server import bench as bench  # the fixture

WINDOW = 200_000
SERVERS, TOOLS = 50, 40


def known(folder: Path) -> list[Definition]:
    """Definitions of servers that were listed before: none of them runs."""
    store = KnownServers(folder / "state")
    found: list[Definition] = []
    for number in range(SERVERS):
        definition = read(f"s{number}", {"command": "x", "args": [str(number)]}, "user", "here")
        tools = tuple(
            Described(
                name=f"do_{number}_{at}",
                description=f"Does the thing {number} in the way {at}.",
                schema={"type": "object", "properties": {"text": {"type": "string"}}},
            )
            for at in range(TOOLS)
        )
        store.listed(
            definition.signature, Hello(era="2025-11-25", tools=True), Listing(tools=tools)
        )
        found.append(definition)
    return found


def sent(sources: ToolSources) -> bytes:
    return msgspec.json.encode(sources.offered(model="m"))


async def test_the_array_stays_while_servers_come_and_go(bench: Bench, tmp_path: Path) -> None:
    definitions = known(tmp_path)
    servers = Servers(bench.ports(), room=lambda: ("auto", WINDOW))
    servers.take(definitions, {})
    sources = ToolSources([BuiltinTools.of(None, alone=False), servers])
    sources.add(SearchTools(sources))
    first = sent(sources)
    assert b"mcp__s0" not in first
    assert b'"ToolSearch"' in first
    random.seed(5)
    for _ in range(100):
        there = random.sample(definitions, random.randint(1, SERVERS))
        servers.take(there, {})
        assert sent(sources) == first
        told = sources.announced().text
        assert len(told) <= WINDOW * PER_TOKEN * 0.01
        assert f"mcp__{there[0].name} ({TOOLS})" in told or f"mcp__{there[0].name}__do" in told
    assert not any(server.pid for server in servers.all)


async def test_a_tool_of_them_is_found(bench: Bench, tmp_path: Path) -> None:
    servers = Servers(bench.ports(), room=lambda: ("auto", WINDOW))
    servers.take(known(tmp_path), {})
    sources = ToolSources([servers])
    sources.add(SearchTools(sources))
    executor = RawExecutor([sources])
    call = ToolCall("c", "ToolSearch", {"query": "thing 17 way 23", "max_results": 3})
    prepared = await executor.prepare(call, bench.where)
    found = words(await executor.run(prepared, bench.context()))
    assert found.startswith("mcp__s17__do_17_23\n")
