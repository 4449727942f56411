"""What print mode costs beside its start: memory, the end after the answer, the first request.

`python tests/bench/print_mode.py [--runs N] [--check]`. `--check` fails when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.e2e.program import AGENT, Program
from tests.fakes.model_server import ModelServer, ServerThread

RSS_MB = 60.0
EXIT_MS = 20.0
BODY_KB = 20.0
SILENT_PIPE_MS = 200.0  # the wait that the rule for standard input allows, on top of a usual run


@dataclass(frozen=True)
class Run:
    wall_ms: float
    exit_ms: float
    rss_mb: float


def run(program: Program, server: ModelServer, stdin: int) -> Run:
    env = program.env(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url)
    began = time.perf_counter()
    with subprocess.Popen(
        [AGENT, "-p", "hi"], cwd=program.project, env=env, stdin=stdin, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        answered = time.perf_counter()
        process.stdout.read()
        _, _, used = os.wait4(process.pid, 0)
        ended = time.perf_counter()
        process.returncode = 0
    scale = 1024 if sys.platform == "linux" else 1024 * 1024
    return Run((ended - began) * 1000, (ended - answered) * 1000, used.ru_maxrss / scale)


def median(values: list[float]) -> float:
    return statistics.median(values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    reader, writer = os.pipe()
    with tempfile.TemporaryDirectory() as folder, ServerThread("say: Hi.", repeat=True) as server:
        program = Program.prepare(Path(folder))
        run(program, server, subprocess.DEVNULL)  # bytecode and caches
        usual = [run(program, server, subprocess.DEVNULL) for _ in range(given.runs)]
        silent = [run(program, server, reader) for _ in range(given.runs)]
        body = len(server.requests[0].raw) / 1000
    os.close(reader)
    os.close(writer)
    waited = median([each.wall_ms for each in silent]) - median([each.wall_ms for each in usual])
    rows = (
        ("peak memory, MB", median([each.rss_mb for each in usual]), RSS_MB),
        ("answer to exit, ms", median([each.exit_ms for each in usual]), EXIT_MS),
        ("first request, kB", body, BODY_KB),
        ("silent pipe costs, ms", waited, SILENT_PIPE_MS),
    )
    for name, value, limit in rows:
        print(f"{name:24} {value:8.1f}  (limit {limit:g})")
    exceeded = any(value > limit for _, value, limit in rows)
    return 1 if given.check and exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
