"""From Enter to the last byte of the request: `python -m tests.bench.enter [--runs 9] [--check]`.

The real program in a terminal against a loopback server. Per run the first message of a session
and one after it; beside both what a bare connection with the same bytes takes.
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
from pathlib import Path

from tests.bench.figures import Verdict, at_most
from tests.bench.loop import Server
from tests.e2e.program import Program
from tests.fakes.terminal import Terminal

LIMIT_MS = 3.0
LATER = 0.6  # seconds a person types at least: the Enter of a burst waits for more
SIGN = "\u276f"


class Whole(Server):
    """Keeps when each request was whole; answers with text."""

    def __init__(self) -> None:
        super().__init__(0)
        self.came: list[float] = []
        self.news = threading.Event()

    def arrived(self, now: float) -> None:
        self.came.append(now)
        self.news.set()


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
            server.news.clear()
            began = time.perf_counter()
            terminal.send("\r")
            if not server.news.wait(20):
                raise SystemExit(f"no request:\n{terminal.text()}")
            found.append((server.came[-1] - began) * 1000)
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
        times = [run(program, server, f"http://127.0.0.1:{port[0]}") for _ in range(given.runs)]
    rows: list[Verdict] = []
    for name, values in zip(
        ("first message", "next message"), zip(*times, strict=True), strict=True
    ):
        rows.append(at_most(f"Enter to request, {name}", statistics.median(values), LIMIT_MS, "ms"))
        sys.stdout.write(f"{name}: {' '.join(f'{value:.1f}' for value in values)} ms\n")
    sys.stdout.write(f"load {os.getloadavg()[0]:.1f}\n" + "".join(row.line() for row in rows))
    return int(given.check and not all(row.good for row in rows))


if __name__ == "__main__":
    sys.exit(main())
