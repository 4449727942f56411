"""What an editor waits for: `agent acp` from its start to its first word, beside print mode.

`python tests/bench/acp.py [--runs N] [--check]`. The reference runs in the same minutes: an agent
of a few lines on the protocol's own package for `initialize`, print mode for a stream.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.e2e.program import AGENT, Program
from tests.fakes.model_server import ModelServer, ServerThread

BARE = """
import asyncio, acp
class Bare:
    async def initialize(self, protocol_version, **more):
        return acp.InitializeResponse(protocol_version=1)
asyncio.run(acp.run_agent(Bare()))
"""
WORDS = 20_000
IDLE = 10
SECONDS = 5.0  # that idle sessions are looked at
MESSAGES = 2000
INITIALIZE_MS, NEW_MS, LOAD_MS = 650.0, 150.0, 1000.0
STREAM, IDLE_MB = 1.5, 2.0


class Wire:
    """The editor's end."""

    def __init__(self, argv: Sequence[str], program: Program, server: ModelServer | None) -> None:
        env = program.env()
        if server is not None:
            env |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            argv, cwd=program.project, env=env, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )
        self.project = str(program.project)
        self._id = 0

    def send(self, method: str, **params: Any) -> int:
        self._id += 1
        body = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(body).encode() + b"\n")
        self.process.stdin.flush()
        return self._id

    def lines(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield json.loads(line)

    def ask(self, method: str, **params: Any) -> Any:
        id = self.send(method, **params)
        answer = next(
            line for line in self.lines() if line.get("id") == id and "method" not in line
        )
        return answer["result"]

    def hello(self) -> float:
        began = time.perf_counter()
        self.ask("initialize", protocolVersion=1, clientCapabilities={})
        return (time.perf_counter() - began) * 1000

    def new(self) -> str:
        return str(self.ask("session/new", cwd=self.project, mcpServers=[])["sessionId"])

    def prompt(self, session: str) -> int:
        blocks = [{"type": "text", "text": "go"}]
        return self.send("session/prompt", sessionId=session, prompt=blocks)

    def end(self) -> float:
        """Its processor seconds in all."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.stdout is not None
        self.process.stdout.read()
        _, _, used = os.wait4(self.process.pid, 0)
        self.process.returncode = 0
        return used.ru_utime + used.ru_stime

    def rss_mb(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1])
        return pages * resource.getpagesize() / 1024**2

    def switches(self) -> int:
        text = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        line = next(each for each in text.splitlines() if each.startswith("voluntary_ctxt"))
        return int(line.split()[1])


@contextmanager
def wire(
    program: Program, server: ModelServer | None = None, argv: Sequence[str] = (AGENT, "acp")
) -> Generator[Wire]:
    made = Wire(argv, program, server)
    try:
        yield made
    finally:
        if made.process.returncode is None:
            made.end()


def starts(program: Program, runs: int) -> tuple[float, float, float]:
    """Milliseconds to the answer of initialize, to that of a bare agent, and of session/new."""
    ours: list[float] = []
    bare: list[float] = []
    opened: list[float] = []
    for _ in range(runs + 1):
        began = time.perf_counter()
        with wire(program) as one:
            one.hello()
            ours.append((time.perf_counter() - began) * 1000)
            began = time.perf_counter()
            one.new()
            opened.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        with wire(program, argv=(sys.executable, "-c", BARE)) as other:
            other.hello()
            bare.append((time.perf_counter() - began) * 1000)
    return tuple(statistics.median(each[1:]) for each in (ours, bare, opened))  # type: ignore[return-value]


def used(pid: int) -> float:
    """Processor seconds of a process so far, from its own clock."""
    return time.clock_gettime((~pid << 3) | 2)


def stream(program: Program, server: ModelServer) -> tuple[float, float]:
    """Processor seconds of one long answer, here and in print mode.

    Of sessions that have answered before: what a first turn prepares for its commands is not the
    stream's, and print mode leaves it until there is one.
    """

    def costs(pid: int, turn: Callable[[], object]) -> float:
        turn()
        time.sleep(1.0)
        found: list[float] = []
        for _ in range(5):
            before = used(pid)
            turn()
            found.append(used(pid) - before)
        return statistics.median(found)

    def ours() -> float:
        with wire(program, server) as one:
            one.hello()
            session = one.new()

            def turn() -> None:
                id = one.prompt(session)
                next(line for line in one.lines() if line.get("id") == id)

            return costs(one.process.pid, turn)

    def printed() -> float:
        flags = ("--output-format", "stream-json", "--include-partial-messages", "--verbose")
        env = program.env(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url)
        line = json.dumps({"type": "user", "message": {"role": "user", "content": "go"}}) + "\n"
        with subprocess.Popen(
            [AGENT, "-p", "--input-format", "stream-json", *flags], cwd=program.project, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            said, heard = process.stdin, process.stdout

            def turn() -> None:
                said.write(line.encode())
                said.flush()
                next(line for line in heard if json.loads(line)["type"] == "result")

            found = costs(process.pid, turn)
            said.close()
            heard.read()
            return found

    return ours(), printed()


def idle(program: Program) -> tuple[float, float]:
    """Megabytes of one idle session more, and how often the process wakes in a second."""
    with wire(program) as one:
        one.hello()
        one.new()
        before = one.rss_mb()
        for _ in range(IDLE):
            one.new()
        time.sleep(SECONDS)  # what a start leaves to do is done
        grown = (one.rss_mb() - before) / IDLE
        count = one.switches()
        time.sleep(SECONDS)
        return grown, (one.switches() - count) / SECONDS


def load(program: Program, server: ModelServer) -> float:
    """Milliseconds until a session of so many messages was told again."""
    with wire(program, server) as one:
        one.hello()
        session = one.new()
        one.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}])
    (path,) = (program.home / ".gatewright" / "projects").glob(f"*/{session}.jsonl")
    grow(path)
    with wire(program, server) as one:
        one.hello()
        one.new()
        began = time.perf_counter()
        one.ask("session/load", sessionId=session, cwd=one.project, mcpServers=[])
        return (time.perf_counter() - began) * 1000


def grow(path: Path) -> None:
    """As if its last exchange had happened again and again."""
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    pair = [each for each in records if each["type"] in ("user", "assistant")][-2:]
    parent = records[-1]["uuid"]
    with path.open("a", encoding="utf-8") as file:
        for at in range(MESSAGES // 2):
            for record in pair:
                uuid = f"{at:08d}-0000-7000-8000-{pair.index(record):012d}"
                again = {**record, "uuid": uuid, "parentUuid": parent}
                file.write(json.dumps(again, separators=(",", ":")) + "\n")
                parent = uuid


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    rows: list[tuple[str, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        program = Program.prepare(Path(folder))
        hello, bare, opened = starts(program, given.runs)
        print(f"a bare agent on the package      {bare:8.1f} ms to initialize")
        rows += [("initialize, ms", hello, INITIALIZE_MS), ("session/new, ms", opened, NEW_MS)]
        text = " ".join(["word"] * WORDS)
        with ServerThread(f"words: 5\nsay: {text}", repeat=True) as long:
            ours, theirs = stream(program, long)
            print(f"print mode                       {theirs:8.2f} s of the processor for a stream")
            rows.append(("stream beside print mode", ours / theirs, STREAM))
        with ServerThread("say: Hi there.", repeat=True) as server:
            rows.append((f"load of {MESSAGES} messages, ms", load(program, server), LOAD_MS))
        grown, wakes = idle(program)
        rows += [("an idle session, MB", grown, IDLE_MB), ("wake-ups a second", wakes, 0.5)]
    for name, value, limit in rows:
        print(f"{name:32} {value:8.2f}  (limit {limit:g})")
    print(f"load average {os.getloadavg()[0]:.1f}")
    return int(given.check and any(value > limit for _, value, limit in rows))


if __name__ == "__main__":
    raise SystemExit(main())
