"""How soon a request is tried again: `python -m tests.bench.retries [--runs 9] [--check]`.

The real program in print mode against a loopback server that is overloaded (529) for a while and
says nothing of when to come back, beside a bare client that asks again at once. What a start and
an answer take is in both, so the waits are taken from when requests came.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

from tests.bench.figures import MS, Verdict
from tests.bench.startup import Answers, timed
from tests.e2e.program import AGENT, Program

SOON, LATE = 100.0, 250.0  # ms after one fault
SCHEDULING = 25.0  # ms of a busy machine between a wait's end and the request
ALL = 8.0  # s for five faults
FAULTS = 5
BODY = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'

CLIENT = """
import asyncio, sys, httpx2
async def main():
    async with httpx2.AsyncClient() as client:
        while (await client.post(sys.argv[1] + "/v1/messages", json={})).status_code == 529:
            pass
asyncio.run(main())
"""


class Overloaded(ThreadingHTTPServer):
    """Refuses `faults` requests, then answers; knows when each came and was refused."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Refusing)
        self.faults = 0
        self.came: list[float] = []
        self.refused: list[float] = []

    def begin(self, faults: int) -> None:
        self.faults, self.came, self.refused = faults, [], []

    def waits(self) -> list[float]:
        """Milliseconds from a refusal to the request after it."""
        pairs = zip(self.refused, self.came[1:], strict=False)
        return [(after - before) * MS for before, after in pairs]


class Refusing(Answers):
    server: Overloaded  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        server = self.server
        server.came.append(time.perf_counter())
        if len(server.refused) == server.faults:
            super().do_POST()
            return
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(529)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)
        server.refused.append(time.perf_counter())


@contextmanager
def overloaded() -> Generator[Overloaded]:
    with Overloaded() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def measured(program: Program, server: Overloaded, runs: int) -> tuple[Verdict, ...]:
    url = f"http://127.0.0.1:{server.server_port}"
    keys = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "key"}
    ask = [AGENT, "-p", "hi", "--model", "anthropic/claude-sonnet-5-5"]
    first: list[float] = []
    for _ in range(runs):
        server.begin(1)
        timed(ask, program, **keys)
        first += server.waits()
    server.begin(FAULTS)
    timed(ask, program, **keys)
    ours = server.came[-1] - server.came[0]
    every = ", ".join(f"{each:.0f}" for each in server.waits())
    server.begin(FAULTS)
    timed([sys.executable, "-c", CLIENT, url], program)
    bare = server.came[-1] - server.came[0]
    low, high = min(first), max(first)
    good = low >= SOON and statistics.median(first) <= LATE + SCHEDULING
    return (
        Verdict(
            f"first retry, {runs} runs",
            f"{low:.0f} to {high:.0f} ms, median {statistics.median(first):.0f}",
            f"{SOON:.0f} to {LATE:.0f} ms",
            good,
        ),
        Verdict(
            "five faults in a row",
            f"{ours:.1f} s ({every} ms)",
            f"<= {ALL:g} s",
            ours <= ALL,
        ),
        Verdict("a bare client that never waits", f"{bare * MS:.0f} ms", "", good=True),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, overloaded() as server:
        found = measured(Program.prepare(Path(folder)), server, options.runs)
    sys.stdout.write(f"load {os.getloadavg()[0]:.1f}\n")
    sys.stdout.write("".join(each.line() for each in found))
    return 1 if options.check and not all(each.good for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
