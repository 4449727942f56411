"""What language servers cost: `python -m tests.bench.lsp [SERVER...]`.

A change until it is told, against a server that answers at once; a question of the tool; our share
of memory after 500 changes; wake-ups while nothing happens; and what a session without a server
loads. For ty, basedpyright and clangd, or those that are named: beside the same change and question
by a bare client, turn by turn, so that a busy machine is slow for both.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.lsp.questions.queries import Question, ask
from gatewright.agent.lsp.questions.spots import Sight
from gatewright.agent.lsp.running.server import WATCHED
from gatewright.agent.lsp.wire.capabilities import hello
from gatewright.agent.lsp.wire.positions import uri_of
from tests.lsp.known_server import alone, scripted
from tests.lsp.test_real_servers import PIP, chosen

CHANGES, QUESTIONS, ROUNDS, IDLE = 500, 200, 30, 20
AGENTS, PACE, SECONDS = 5, 20, 5


def held() -> float:
    """Megabytes in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1024**2


async def measured(folder: Path) -> None:
    async with alone(folder, scripted("pull")) as made:
        server = await made.begun()
        path = f"{made.root}/a.x"
        took: list[float] = []
        before = held()
        for number in range(CHANGES):
            made.write("a.x", f"BAD it{number}\n")
            start = time.perf_counter()
            told = await made.heard(seconds=5.0)
            took.append(time.perf_counter() - start)
            assert told is not None and told.errors == 1
            if number == CHANGES // 5:
                before = held()
        print(f"change to told: {1000 * statistics.median(took):.1f} ms (median of {CHANGES})")
        print(f"memory over the last {CHANGES * 4 // 5} changes: {held() - before:+.1f} MB")
        sight = Sight(lambda _: True, lambda _: True, lambda path: path)
        question = Question(operation="hover", path=path, line=0, column=5)
        start = time.perf_counter()
        for _ in range(QUESTIONS):
            await ask(server, question, sight)
        print(f"a question: {1000 * (time.perf_counter() - start) / QUESTIONS:.2f} ms")


def switches() -> int:
    """How often this process was woken so far."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(row for row in text.splitlines() if row.startswith("voluntary")).split()[1])


async def resting(folder: Path) -> None:
    """Once its memory is not looked at any more, nothing of ours wakes up."""
    async with alone(folder, scripted("pull")) as made:
        await made.begun()
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await asyncio.wait([never], timeout=WATCHED + 1)
        before = switches()
        await asyncio.wait([never], timeout=IDLE)
        print(f"wake-ups in {IDLE} idle seconds: {switches() - before - 1}")


async def five(folder: Path) -> None:
    """Agents that make so many changes a second together, each told of its own."""
    async with alone(folder, scripted("pull")) as made:
        await made.begun("f0.x")
        loop, late = asyncio.get_running_loop(), list[float]()
        start = loop.time()

        async def work(agent: int) -> None:
            name = f"main/a{agent}"
            for number in range(SECONDS * PACE // AGENTS):
                due = start + (number * AGENTS + agent) / PACE
                await asyncio.wait([loop.create_future()], timeout=max(0.0, due - loop.time()))
                made.write(f"f{agent}.x", f"BAD it{number}\n", agent=name)
                told = await made.heard(name, 5.0)
                assert told is not None and told.errors == 1, (agent, number, told)
                late.append(loop.time() - due)

        await asyncio.gather(*(work(agent) for agent in range(AGENTS)))
        took, worst = loop.time() - start, 1000 * max(late)
        print(
            f"{AGENTS} agents, {PACE} changes a second: {len(late)} in {took:.1f} s, "
            f"{len(made.children)} server, each told within {worst:.0f} ms"
        )


class Bare:
    """The least a client can be: it writes, and reads until what it waits for has come."""

    def __init__(self, process: asyncio.subprocess.Process, root: Path) -> None:
        self._process, self._root, self._ids = process, root, 0
        self._pulls = False

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

    async def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        head = await self._process.stdout.readuntil(b"\r\n\r\n")
        size = int(re.search(rb"Content-Length: (\d+)", head)[1])  # type: ignore[index]
        message: dict[str, Any] = json.loads(await self._process.stdout.readexactly(size))
        if "method" in message and "id" in message:
            if message["method"] == "client/registerCapability":
                self._pulls |= "diagnostic" in json.dumps(message["params"])
            count = len(message.get("params", {}).get("items", ()))
            self._send({"id": message["id"], "result": [None] * count if count else None})
        return message

    async def ask(self, method: str, params: object) -> Any:
        self._ids += 1
        self._send({"id": self._ids, "method": method, "params": params})
        while True:
            message = await self._read()
            if message.get("id") == self._ids and "method" not in message:
                return message.get("result")

    def tell(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    async def begin(self) -> None:
        said = await self.ask("initialize", hello(str(self._root), None))
        self._pulls = "diagnosticProvider" in said["capabilities"]
        self.tell("initialized", {})

    async def changed(self, path: Path, version: int, text: str, language: str) -> None:
        """Until it said what it found in that text."""
        uri = uri_of(str(path))
        item = {"uri": uri, "version": version, "languageId": language, "text": text}
        if version == 1:
            self.tell("textDocument/didOpen", {"textDocument": item})
            await self._published(uri, version)  # or it registers
        else:
            who = {"uri": uri, "version": version}
            change = {"textDocument": who, "contentChanges": [{"text": text}]}
            self.tell("textDocument/didChange", change)
            self.tell("textDocument/didSave", {"textDocument": {"uri": uri}})
        if self._pulls:
            await self.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        elif version > 1:
            await self._published(uri, version)

    async def _published(self, uri: str, version: int) -> None:
        while not self._pulls:
            message = await self._read()
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                if params["uri"] == uri and params.get("version", version) == version:
                    return


async def beside(name: str, folder: Path) -> None:
    """The same change and question by us and by a bare client, in turn."""
    try:
        it = chosen(name, folder)
    except pytest.skip.Exception as error:
        print(f"{name}: {error}")
        return
    first, _ = it.files
    language = it.definition.language(first)
    texts = (it.language.broken, it.language.files[first])
    ours: list[float] = []
    theirs: list[float] = []
    asked: tuple[list[float], list[float]] = ([], [])
    process = await asyncio.create_subprocess_exec(
        it.definition.command, *it.definition.args, cwd=folder, limit=1 << 24,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    bare = Bare(process, folder)
    async with alone(folder, it.definition) as made:
        await bare.begin()
        await bare.changed(folder / first, 1, texts[1], language)
        server = await made.begun(first, texts[1])
        path, sight = f"{made.root}/{first}", Sight(lambda _: True, lambda _: True, str)
        line = next(n for n, text in enumerate(texts[1].split("\n")) if "double" in text)
        column = texts[1].split("\n")[line].index("double")
        question = Question(operation="hover", path=path, line=line, column=column)
        at = {
            "textDocument": {"uri": uri_of(path)},
            "position": {"line": line, "character": column},
        }
        for number in range(ROUNDS):
            text = texts[number % 2]
            start = time.perf_counter()
            await bare.changed(folder / first, number + 2, text, language)
            theirs.append(time.perf_counter() - start)
            made.write(first, text)
            start = time.perf_counter()
            told = await made.heard(seconds=20.0)
            ours.append(time.perf_counter() - start)
            assert told is not None, (name, number)
            start = time.perf_counter()
            await bare.ask("textDocument/hover", at)
            asked[0].append(time.perf_counter() - start)
            start = time.perf_counter()
            await ask(server, question, sight)
            asked[1].append(time.perf_counter() - start)
    os.killpg(process.pid, signal.SIGKILL)
    await process.communicate()
    told_ms, bare_ms, ask_ms, question_ms = (
        1000 * statistics.median(each) for each in (ours, theirs, asked[0], asked[1])
    )
    print(
        f"{name}: change to told {told_ms:.1f} ms, bare {bare_ms:.1f} (+{told_ms - bare_ms:.1f}, "
        f"limit +20); a question {question_ms:.1f}, bare {ask_ms:.1f} "
        f"(+{question_ms - ask_ms:.1f}, limit +5); medians of {ROUNDS}"
    )


LOADED = """
import resource, sys, time
import gatewright.agent.extensions.servers.plugging, gatewright.mcp.serverlog, asyncio, msgspec
a, b = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
import gatewright.agent.lsp.languages, gatewright.agent.lsp.findings.hearing
import gatewright.agent.lsp.questions.renaming
print(f"loaded: {1000 * (time.perf_counter() - a):.0f} ms, "
      f"{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - b) / 1024:.1f} MB")
"""


async def _in(folder: str, work: Callable[[Path], Awaitable[None]]) -> None:
    await work(Path(os.path.realpath(folder)))


def main() -> None:
    works: list[Callable[[Path], Awaitable[None]]] = [measured, five, resting]
    works += [partial(beside, name) for name in sys.argv[1:] or PIP]
    for work in works:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(_in(folder, work))
    subprocess.run([sys.executable, "-c", LOADED], check=True)


if __name__ == "__main__":
    main()
