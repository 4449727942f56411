"""What language servers cost: `python -m tests.bench.lsp`.

A change until it is told, against a server that answers at once; a question of the tool; our share
of memory after 500 changes; and what a session without a server loads.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gatewright.agent.lsp.questions.queries import Question, ask
from gatewright.agent.lsp.questions.spots import Sight
from tests.lsp.known_server import alone, scripted

CHANGES, QUESTIONS = 500, 200


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


LOADED = """
import resource, sys, time
import gatewright.agent.extensions.servers.plugging, gatewright.mcp.serverlog, asyncio, msgspec
a, b = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
import gatewright.agent.lsp.languages, gatewright.agent.lsp.findings.hearing
import gatewright.agent.lsp.questions.renaming
print(f"loaded: {1000 * (time.perf_counter() - a):.0f} ms, "
      f"{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - b) / 1024:.1f} MB")
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measured(Path(folder)))
    subprocess.run([sys.executable, "-c", LOADED], check=True)


if __name__ == "__main__":
    main()
