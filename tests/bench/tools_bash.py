"""What Bash adds to a plain subprocess of the same command: `python tests/bench/tools_bash.py`.

Both run `true` in turn, so that other load hits both; exit code 1 if the p95 adds over 6 ms.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fakes.toolbox import Toolbox

ROUNDS = 400
LIMIT_MS = 6.0


def p(values: list[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)] * 1000


async def measure(root: Path) -> tuple[list[float], list[float]]:
    box = Toolbox(root)
    await box.said("Bash", command="true")
    plain: list[float] = []
    tool: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run("true", shell=True, capture_output=True, check=True)  # noqa: ASYNC221  the measure
        plain.append(time.perf_counter() - began)
        began = time.perf_counter()
        await box.said("Bash", command="true")
        tool.append(time.perf_counter() - began)
    return plain, tool


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        root.mkdir()
        plain, tool = asyncio.run(measure(root))
    for name, values in (("plain", plain), ("Bash", tool)):
        print(f"{name:6} p50 {p(values, 0.5):.2f} ms   p95 {p(values, 0.95):.2f} ms")
    added = p(tool, 0.95) - p(plain, 0.95)
    print(f"added  p50 {p(tool, 0.5) - p(plain, 0.5):.2f} ms   p95 {added:.2f} ms")
    return 0 if added <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
