"""What the sandbox costs: `python -m tests.bench.sandbox [runs] [files]`.

Runs `true` through the session's own spawn, with and without the sandbox, in a project with a
repository and that many files, one after the other so that the machine's mood hits both. Prints
milliseconds and fails when the 95th percentile of what is added exceeds the budget.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.machine import machine
from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.system.processes import spawn

BUDGET = 15.0
ENV = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}


async def once(request: SpawnRequest) -> None:
    child = await spawn(request)
    while await child.read():
        pass
    code = await child.wait()
    assert code == 0, code


async def measure(box: Sandbox, cwd: Path, runs: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each run: bare, confined."""
    bare: list[float] = []
    confined: list[float] = []
    plain = SpawnRequest(argv=("true",), cwd=cwd, env=ENV)
    for _ in range(runs):
        start = time.perf_counter()
        await once(plain)
        middle = time.perf_counter()
        await once(box.confine(plain))
        bare.append((middle - start) * 1000)
        confined.append((time.perf_counter() - middle) * 1000)
    return bare, confined


def prepare(place: Path, files: int) -> Path:
    project = place / "proj"
    project.mkdir()
    for number in range(files):
        folder = project / "src" / f"d{number // 20}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.py").write_text("x = 1\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    return project


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def main(runs: int = 200, files: int = 400) -> int:
    with tempfile.TemporaryDirectory(prefix="gatewright-bench-") as place:
        project = prepare(Path(place), files)
        temp = Path(place) / "tmp"
        temp.mkdir()
        home, state = Path(ENV["HOME"]), Path(place) / "state"
        config = Config(cwd=project, home=home, roots=(project,), temp=temp, state=state)
        box = Sandbox(config, machine())
        try:
            asyncio.run(measure(box, project, 5))
            bare, confined = asyncio.run(measure(box, project, runs))
        finally:
            box.close()
    added = [with_ - without for with_, without in zip(confined, bare, strict=True)]
    for name, values in (("bare", bare), ("confined", confined), ("added", added)):
        row = [percentile(values, part) for part in (0.5, 0.95, 0.99)]
        print(f"{name.ljust(9)} p50 {row[0]:6.2f}  p95 {row[1]:6.2f}  p99 {row[2]:6.2f} ms")
    over = percentile(added, 0.95) > BUDGET
    print(f"budget: p95 of what is added at most {BUDGET} ms: {'missed' if over else 'kept'}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
