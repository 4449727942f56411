"""The work of a printed answer beside a bare client: `python -m tests.bench.print_work [--check]`.

Counted by valgrind, so that it is the same figure on a busy machine: what `tests/bench/startup.py`
measures in time. Each is started three times before, so that all is compiled and known.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.figures import Verdict
from tests.bench.startup import CLIENT, server, timed
from tests.e2e.program import AGENT, Program

MOST = 0.8


def counted(argv: list[str], program: Program, **env: str) -> float:
    """Millions of instructions."""
    for _ in range(3):
        timed(argv, program, **env)
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*tool, sys.executable, *argv] if argv[0] == AGENT else [*tool, *argv],
        cwd=program.project,
        env=program.env(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"refs:\s+([\d,]+)", done.stderr)
    if found is None:
        raise SystemExit(f"valgrind counted nothing:\n{done.stderr}")
    return int(found[1].replace(",", "")) / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("This counts with valgrind, which is not installed.")
    with tempfile.TemporaryDirectory() as folder, server() as url:
        program = Program.prepare(Path(folder))
        keys = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "key"}
        ask = [AGENT, "-p", "hi", "--model", "anthropic/claude-sonnet-5-5"]
        bare = counted([sys.executable, "-c", CLIENT, url], program)
        ours = counted(ask, program, **keys)
    found = f"{ours / bare:.2f} x  ({ours:.0f} / {bare:.0f} million)"
    row = Verdict("agent -p hi, a bare httpx2 client", found, f"<= {MOST} x", ours <= MOST * bare)
    sys.stdout.write(f"load {os.getloadavg()[0]:.1f}\n{row.line()}")
    return 1 if options.check and not row.good else 0


if __name__ == "__main__":
    sys.exit(main())
