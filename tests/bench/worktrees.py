"""Times work trees: `python -m tests.bench.worktrees [FILES]`, beside git alone in the same run.

Prints the target and what was found; gates nothing by itself.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.worktrees.ground import Checkout

FILES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ROUNDS = 5
BODY = "a line of a file\n" * 20


def filled(folder: Path) -> Checkout:
    at = Checkout(folder)
    for number in range(FILES):
        at.put(f"d{number % 100}/f{number}.txt", f"{number}\n{BODY}")
    at.git("add", ".")
    at.git("commit", "-qm", "many")
    return at


async def measured(at: Checkout) -> dict[str, list[float]]:
    """Turn about, so that a busy machine is as busy for both."""
    found: dict[str, list[float]] = {"git worktree add": [], "made by us": [], "looked through": [],
                                     "removed by us": []}  # fmt: skip
    for number in range(ROUNDS):
        began = time.perf_counter()
        at.git("worktree", "add", "-q", str(at.root.parent / f"plain{number}"))
        found["git worktree add"].append(time.perf_counter() - began)
        shutil.rmtree(at.root.parent / f"plain{number}")
        began = time.perf_counter()
        record = await at.tree(f"t{number}")
        found["made by us"].append(time.perf_counter() - began)
        began = time.perf_counter()
        held = await at.trees.check(record)
        found["looked through"].append(time.perf_counter() - began)
        assert held.clean
        began = time.perf_counter()
        left = await at.trees.remove(record)
        found["removed by us"].append(time.perf_counter() - began)
        assert not left.kept
    return found


def main() -> None:
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # the disk is not what is timed
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        at = filled(Path(folder))
        found = asyncio.run(measured(at))
    best = {name: min(times) for name, times in found.items()}
    for name, seconds in best.items():
        sys.stdout.write(f"{name:20} {seconds * 1000:8.0f} ms\n")
    ratio = best["made by us"] / best["git worktree add"]
    version = subprocess.run(
        ["git", "--version"], capture_output=True, text=True, check=True
    ).stdout
    sys.stdout.write(f"{FILES:,} files, {version.strip()}: {ratio:.2f} x git alone (at most 1.3)\n")


if __name__ == "__main__":
    main()
