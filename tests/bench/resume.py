"""How long it takes to go on with a session, and in how much memory, by the size of its file.

`python -m tests.bench.resume [--check] [--records 2000 20000 200000]` writes transcripts with a
boundary before their last 2,000 records (as every long session has: what lies before is summarised
away), then starts a process for each that opens the session and draws the first screenful.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from gatewright.agent.record.events import AnyEvent, Compacted
from gatewright.agent.transcript.place import project_folder
from tests.transcript.stored import chained, started, turn, write

ABOVE_EMPTY_MS = 250.0
GROWTH_MB = 40.0  # what the largest file may take above the smallest one
RECORDS = (2_000, 20_000, 200_000)
LIVE = 2_000  # records behind the last boundary
PER_TURN = 6
RUNS = 5

OPEN = """
import asyncio, json, os, resource, sys, time
began = time.perf_counter()
from gatewright.agent.build import open_session
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.frontends.sentences import Spoken

async def main():
    options = LaunchOptions(model="demo", resume=sys.argv[1] or None)
    session = await open_session(options, os.environ, interactive=True)
    spoken, lines = Spoken(), []
    for envelope in reversed(session.subscribe().waiting()):
        lines.append(spoken.text(envelope))
        if sum(text.count("\\n") for text in lines) >= 50:
            break
    ms = (time.perf_counter() - began) * 1000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"ms": ms, "mb": peak, "lines": len(lines)}))
    sys.stdout.flush()
    os._exit(0)

asyncio.run(main())
"""


def events(records: int) -> Iterator[AnyEvent]:
    """About 2.5 kB for each record, as real sessions have."""
    output = "some output of a tool, as it comes\n" * 400
    turns = records // PER_TURN
    live = LIVE // PER_TURN
    yield started()
    for number in range(turns):
        if number == turns - live and number:
            yield Compacted(summary="what was before", trigger="auto", tokens_before=150_000)
        yield from turn(number, output=output)


def measure(folder: Path, session: str) -> tuple[float, float]:
    """The median milliseconds and megabytes of a few starts."""
    env = {**os.environ, "HOME": str(folder), "GATEWRIGHT_HOME": str(folder)}
    found: list[dict[str, float]] = []
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-c", OPEN, session],
            cwd=folder, env=env, capture_output=True, text=True, check=True, encoding="utf-8",
        )  # fmt: skip
        found.append(json.loads(done.stdout))
    return (
        statistics.median(run["ms"] for run in found),
        statistics.median(run["mb"] for run in found),
    )


def bench(folder: Path, sizes: Sequence[int]) -> bool:
    """Print the figures; whether they are within the limits."""
    empty_ms, empty_mb = measure(folder, "")
    print(f"{'records':>8} {'file MB':>8} {'ms':>7} {'above empty':>12} {'RSS MB':>7}")
    print(f"{'empty':>8} {'':>8} {empty_ms:7.0f} {'':>12} {empty_mb:7.0f}")
    memory: list[float] = []
    good = True
    for records in sizes:
        path = project_folder(folder, folder) / f"size-{records}.jsonl"
        write(path, chained(events(records)), cwd=str(folder))
        size = path.stat().st_size / 1e6
        ms, mb = measure(folder, path.stem)
        memory.append(mb)
        good = good and ms - empty_ms <= ABOVE_EMPTY_MS
        print(f"{records:8} {size:8.0f} {ms:7.0f} {ms - empty_ms:12.0f} {mb:7.0f}")
        path.unlink()
    return good and max(memory) - min(memory) <= GROWTH_MB


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=RECORDS)
    parser.add_argument("--check", action="store_true", help="fail when over the limits")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        good = bench(Path(os.path.realpath(name)), given.records)
    if given.check and not good:
        print(f"over the limit: {ABOVE_EMPTY_MS} ms above an empty start, {GROWTH_MB} MB growth")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
