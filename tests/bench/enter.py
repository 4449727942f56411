"""From Enter to the last byte of the request: `python -m tests.bench.enter [--runs 9] [--check]`.

The real program in a terminal against a loopback server. Per run the first message of a session
and one after it, and in between a bare program that writes the same bytes to a connection it has
when Enter comes. Others use the machine too, and a wait for them is no work of ours: of all runs
the lower quartile counts, of both programs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.figures import Verdict, at_most
from tests.bench.loop import Server
from tests.e2e.program import Program
from tests.fakes.terminal import Terminal

LIMIT_MS = 3.0
LATER = 0.6  # seconds a person types at least: the Enter of a burst waits for more
SIGN = "\u276f"


BARE = """
import os, socket, sys, termios, tty
line = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
body = b"x" * int(sys.argv[2])
head = b"POST / HTTP/1.1\\r\\nhost: x\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(body)
tty.setraw(0)
os.write(1, b"ready")
for _ in range(2):
    while os.read(0, 1) != b"\\r":
        pass
    line.sendall(head + body)
os.read(0, 1)
"""
BODY = 20_000  # bytes, as many as a first request has


class Whole(Server):
    """Keeps when each request was whole; answers with text."""

    def __init__(self) -> None:
        super().__init__(0)
        self.came: list[float] = []
        self.news = threading.Event()

    def arrived(self, now: float) -> None:
        self.came.append(now)
        self.news.set()


def bare(server: Whole, port: int) -> tuple[float, float]:
    argv = [sys.executable, "-c", BARE, str(port), str(BODY)]
    with Terminal(argv, cwd=Path.cwd(), env={**os.environ}, rows=30, columns=100) as terminal:
        terminal.wait_for("ready")
        found: list[float] = []
        for _ in range(2):
            time.sleep(LATER)
            found.append(entered(terminal, server))
    return found[0], found[1]


def quartile(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=4, method="inclusive")[0]


def entered(terminal: Terminal, server: Whole) -> float:
    """Milliseconds until the request is whole."""
    server.news.clear()
    began = time.perf_counter()
    terminal.send("\r")
    if not server.news.wait(20):
        raise SystemExit(f"no request:\n{terminal.text()}")
    return (server.came[-1] - began) * 1000


def run(program: Program, server: Whole, url: str) -> tuple[float, float]:
    env = program.env(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="key")
    argv = [*program.argv, "--model", "anthropic/fake"]
    with Terminal(argv, cwd=program.project, env=env, rows=30, columns=100) as terminal:
        terminal.wait_for("default")
        found: list[float] = []
        for text in ("first", "second"):
            terminal.send(text)
            terminal.wait_for(f"{SIGN} {text}")
            time.sleep(LATER)
            found.append(entered(terminal, server))
            terminal.wait_for("done", SIGN)
            time.sleep(LATER)
    return found[0], found[1]


def serve(server: Whole, ready: threading.Event, port: list[int]) -> None:
    async def forever() -> None:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        port.append(listening.sockets[0].getsockname()[1])
        ready.set()
        await asyncio.Event().wait()

    asyncio.run(forever())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    server, ready, port = Whole(), threading.Event(), list[int]()
    threading.Thread(target=serve, args=(server, ready, port), daemon=True).start()
    ready.wait(10)
    with tempfile.TemporaryDirectory() as folder:
        program = Program.prepare(Path(folder))
        times: list[tuple[float, float]] = []
        beside: list[float] = []
        for _ in range(given.runs):
            times.append(run(program, server, f"http://127.0.0.1:{port[0]}"))
            beside += bare(server, port[0])
    rows: list[Verdict] = []
    sys.stdout.write(f"bare: {' '.join(f'{value:.1f}' for value in beside)} ms\n")
    reference = quartile(beside)
    for name, values in zip(
        ("first message", "next message"), zip(*times, strict=True), strict=True
    ):
        title = f"Enter to request, {name} (bare {reference:.1f})"
        rows.append(at_most(title, quartile(values), LIMIT_MS, "ms"))
        sys.stdout.write(f"{name}: {' '.join(f'{value:.1f}' for value in values)} ms\n")
    sys.stdout.write(f"load {os.getloadavg()[0]:.1f}\n" + "".join(row.line() for row in rows))
    return int(given.check and not all(row.good for row in rows))


if __name__ == "__main__":
    sys.exit(main())
