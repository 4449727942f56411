"""What connections and calls cost in one process, for `tests/bench/mcp.py`: SDK beside adapter."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from gatewright.agent.context.tool_search import SearchTools
from gatewright.agent.context.tool_sources import ToolSources
from gatewright.mcp.definitions import read
from gatewright.mcp.server import Server
from gatewright.mcp.serverlog import ServerLog
from gatewright.mcp.servers import Servers
from gatewright.mcp.talk.lines import Lines
from gatewright.mcp.talk.stdio import _message as message_of  # pyright: ignore[reportPrivateUsage]
from gatewright.tools.executor import RawExecutor
from gatewright.tools.protocol import ToolCall
from tests.bench.figures import MS, Verdict, at_most, ratio, rss
from tests.mcp.test_many_servers import known
from tests.mcp.test_server import FAKE, Bench
from tests.permissions.composed import desk

GIVING = str(Path(FAKE).parent / "giving_server.py")
LINE = 30 * 1024 * 1024


@asynccontextmanager
async def bench() -> AsyncGenerator[Bench]:
    with tempfile.TemporaryDirectory() as folder:
        made = Bench(Path(folder))
        try:
            yield made
        finally:
            await asyncio.gather(*(each.close() for each in made.servers))


def giving(made: Bench, name: str = "fake") -> Server:
    raw = {"command": sys.executable, "args": [GIVING]}
    server = Server(read(name, raw, "user", "here"), made.ports())
    made.servers.append(server)
    return server


async def bare(stack: AsyncExitStack, program: str = GIVING) -> ClientSession:
    """The SDK's own client, connected."""
    parameters = StdioServerParameters(command=sys.executable, args=[program])
    streams = await stack.enter_async_context(stdio_client(parameters))
    session = await stack.enter_async_context(ClientSession(*streams))
    await session.initialize()
    await session.list_tools()
    return session


async def took(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def calls(runs: int) -> list[Verdict]:
    found: list[Verdict] = []
    async with bench() as made, AsyncExitStack() as stack:
        server, session = giving(made), await bare(stack)
        await server.ready()
        (tool,) = server.tools().values()
        for name, size, count in (("1 kB", 1_000, 20 * runs), ("1 MB", 1_000_000, 3 * runs)):
            ours, base = list[float](), list[float]()
            for _ in range(count + 1):
                base.append(await took(session.call_tool("give", {"size": size})))
                ours.append(await took(server.call(tool, {"size": size}, made.context())))
            del ours[0], base[0]
            found.append(ratio(f"a call of {name} / the bare SDK's", ours, base, 1.3, more=0.3))
    return found


async def connections(runs: int) -> list[Verdict]:
    """Ten at once, three of them being started at a time by us."""
    ours, base = list[float](), list[float]()
    for _ in range(1 + max(3, runs // 2)):
        base.append(await took(asyncio.gather(*(_connected() for _ in range(10)))))
        async with bench() as made:
            servers = [giving(made, f"s{n}") for n in range(10)]
            ours.append(await took(asyncio.gather(*(each.ready() for each in servers))))
    del ours[0], base[0]  # which loaded what they need
    return [ratio("10 new servers / bare SDK clients gathered", ours, base, 1.2)]


async def _connected() -> None:
    """With its end, which the SDK wants in the same task; it takes no time where nobody waits."""
    async with AsyncExitStack() as stack:
        await bare(stack)


async def turns(runs: int) -> list[Verdict]:
    """A turn with a call of a server and the same with Read, in one session."""
    count = 2 * runs
    call, read_ = 'call: mcp__fake__give {"size": 1000}', 'call: Read {"file_path": "a.txt"}'
    script = [line for _ in range(count) for line in (call, "say: x", read_, "say: x")]
    entry = {"command": sys.executable, "args": [GIVING]}
    own = {"mcpServers": {"fake": entry}, "permissions": {"allow": ["mcp__fake"]}}
    ours, base = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        async with desk(Path(folder), script, own=own) as made:
            (made.project / "a.txt").write_text("x" * 1_000, encoding="utf-8")
            for number in range(count):
                for times, place in ((ours, 1), (base, 2)):
                    began = time.perf_counter()
                    made.session.submit("go")
                    await made.ended(2 * number + place)
                    times.append(time.perf_counter() - began)
                    await made.session.idle()
    more = (sorted(ours)[count // 2] - sorted(base)[count // 2]) * MS
    return [at_most("a turn with a server's tool beside Read, more", more, 1.0, "ms")]


async def endings(runs: int) -> list[Verdict]:
    del runs
    async with bench() as made:
        servers = Servers(made.ports(), room=lambda: ("auto", 200_000))
        flags = [["--stubborn"] if n == 3 else [] for n in range(10)]
        raw = [{"command": sys.executable, "args": [str(FAKE), *each]} for each in flags]
        servers.take([read(f"s{n}", each, "user", "h") for n, each in enumerate(raw)], {})
        await asyncio.gather(*(each.ready() for each in servers.all))
        seconds = await took(servers.close())
    return [at_most("the end of 10 servers, one of them stubborn", seconds, 0.8, "s")]


async def searches(runs: int) -> list[Verdict]:
    async with bench() as made:
        servers = Servers(made.ports(), room=lambda: ("auto", 200_000))
        servers.take(known(made.folder)[:25], {})
        sources = ToolSources([servers])
        sources.add(SearchTools(sources))
        executor, times = RawExecutor([sources]), list[float]()
        for number in range(2 + 3 * runs):
            query = {"query": f"thing {number % 25} way {number % 40}"}
            prepared = await executor.prepare(ToolCall("c", "ToolSearch", query), made.where)
            times.append(await took(executor.run(prepared, made.context())) * MS)
    warm = sorted(times[1:])[len(times) // 2]
    return [
        at_most("ToolSearch over 1,000 tools, first", times[0], 60, "ms"),
        at_most("ToolSearch over 1,000 tools, warm", warm, 10, "ms"),
    ]


async def long_lines(runs: int) -> list[Verdict]:
    """Reading one as we do, beside reading it as JSON; and what a call that brings one takes."""
    result = {"content": [{"type": "text", "text": "x\n" * (LINE // 3)}]}
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}).encode() + b"\n"
    ours, base = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        log = ServerLog(Path(folder) / "log")
        for _ in range(max(3, runs // 2)):
            began = time.perf_counter()
            json.loads(line)
            base.append(time.perf_counter() - began)
            began = time.perf_counter()
            reading = Lines()
            for at in range(0, len(line), 65_536):
                for each in reading.feed(line[at : at + 65_536]):
                    assert message_of(each, log) is not None
            ours.append(time.perf_counter() - began)
    return [ratio("a line of 30 MB / json.loads", ours, base, 2.0)]


async def memory(runs: int) -> list[Verdict]:
    """In a process of its own, in which nothing else was measured."""
    del runs
    async with bench() as made:
        first = giving(made, "first")
        await first.ready()
        (tool,) = first.tools().values()
        await first.call(tool, {"size": 1_000}, made.context())
        before = rss()
        servers = [giving(made, f"s{n}") for n in range(10)]
        await asyncio.gather(*(each.ready() for each in servers))
        each = (rss() - before) / 10 / 1024
        before = rss()
        for _ in range(2_000):
            await first.call(tool, {"size": 1_000}, made.context())
        many = (rss() - before) / 1024
        before = rss()
        peak = [0]
        watching = asyncio.create_task(_watch(peak))
        await first.call(tool, {"size": LINE}, made.context())
        watching.cancel()
        grown = (max(peak[0], rss()) - before) / 1024
    return [
        at_most("RSS of a connected server", each, 1.5, "MB"),
        at_most("RSS after 2,000 calls, more", many, 10, "MB"),
        at_most("RSS while a line of 30 MB comes, more", grown, 3 * LINE / 1024 / 1024, "MB"),
    ]


async def _watch(peak: list[int]) -> None:
    while True:
        peak[0] = max(peak[0], rss())
        await asyncio.sleep(0.002)


ROWS: Sequence[Callable[[int], Awaitable[list[Verdict]]]] = (
    calls, connections, turns, endings, searches, long_lines,
)  # fmt: skip


def main() -> None:
    """`memory` in this process alone; its rows as JSON."""
    sys.stdout.write(json.dumps(asyncio.run(memory(1))))


if __name__ == "__main__":
    main()
