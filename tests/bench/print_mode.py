"""What print mode costs beside its start: memory, the end after the answer, a silent pipe.

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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.startup import CLIENT
from tests.e2e.program import AGENT, Program
from tests.fakes.model_server import ModelServer, ServerThread

RSS_TIMES = 1.1  # of the bare client's, which opens the same connection and reads the same stream
EXIT_MS = 20.0
ASK = (AGENT, "-p", "hi")
SMALL = """
import os, sys
_, status, used = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
sys.stderr.write(f" {used.ru_maxrss}")
sys.exit(os.waitstatus_to_exitcode(status))
"""
SILENT_PIPE_MS = 250.0  # GRACE and a little: from anybody else its end is waited for
LIBRARY = {"CLAUDE_CODE_ENTRYPOINT": "sdk-py"}  # which holds a pipe open and says nothing in it


@dataclass(frozen=True)
class Run:
    wall_ms: float
    exit_ms: float


def run(program: Program, server: ModelServer, stdin: int, **more: str) -> Run:
    env = program.env(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url, **more)
    began = time.perf_counter()
    with subprocess.Popen(
        ASK, cwd=program.project, env=env, stdin=stdin, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        answered = time.perf_counter()
        process.stdout.read()
        process.wait()
        ended = time.perf_counter()
    return Run((ended - began) * 1000, (ended - answered) * 1000)


def peak_mb(program: Program, server: ModelServer, argv: Sequence[str] = ASK) -> float:
    """What it takes at most; started by a small program, whose own size would count from here."""
    env = program.env(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url)
    small = [sys.executable, "-I", "-S", "-c", SMALL, *argv]
    done = subprocess.run(
        small, cwd=program.project, env=env, stdin=subprocess.DEVNULL, capture_output=True,
        check=True,
    )  # fmt: skip
    scale = 1024 if sys.platform == "linux" else 1024 * 1024
    return int(done.stderr.split()[-1]) / scale


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
        bare = [sys.executable, "-c", CLIENT, server.url]
        least = median([peak_mb(program, server, bare) for _ in range(3)])
        most = median([peak_mb(program, server) for _ in range(3)])
        silent = [run(program, server, reader, **LIBRARY) for _ in range(given.runs)]
    os.close(reader)
    os.close(writer)
    waited = median([each.wall_ms for each in silent]) - median([each.wall_ms for each in usual])
    rows = (
        (
            f"peak MB (bare {least:.1f})",
            most,
            least * RSS_TIMES,
        ),
        ("answer to exit, ms", median([each.exit_ms for each in usual]), EXIT_MS),
        ("silent pipe costs, ms", waited, SILENT_PIPE_MS),
    )
    for name, value, limit in rows:
        print(f"{name:24} {value:8.1f}  (limit {limit:.4g})")
    exceeded = any(value > limit for _, value, limit in rows)
    return 1 if given.check and exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
