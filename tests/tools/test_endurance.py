"""Two thousand calls of one session: no growth, and nothing left behind."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from tests.fakes.toolbox import Toolbox

PROOF = pytest.mark.proof
CALLS = [400, pytest.param(2000, marks=PROOF)]
GROWTH_KB = 50_000


def resident() -> int:
    """Resident memory now, in kB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


@pytest.mark.slow
@pytest.mark.parametrize("calls", CALLS)
async def test_many_calls_leave_nothing(box: Toolbox, calls: int) -> None:
    for n in range(50):
        (box.root / f"f{n}.txt").write_text(f"needle {n}\n" * 200, encoding="utf-8")

    async def some(first: int, count: int) -> None:
        for n in range(first, first + count):
            file = f"f{n % 50}.txt"
            match n % 5:
                case 0:
                    await box.said("Read", file_path=file, offset=1 + n % 100)
                case 1:
                    await box.said("Edit", file_path=file, **swap(n))
                case 2:
                    await box.said("Grep", pattern="needle", output_mode="content")
                case 3:
                    await box.said("Bash", command=f"head -c 200000 /dev/zero | tr '\\0' {n % 10}")
                case _:
                    await box.said("Write", file_path=f"new{n % 50}.txt", content="x\n" * 500)
            for made in box.ctx.spill.glob("*"):
                made.unlink()
            box.progress.clear()

    def swap(n: int) -> dict[str, object]:
        box.ledger.note(box.root / f"f{n % 50}.txt", (box.root / f"f{n % 50}.txt").read_bytes())
        words = ("needle", "NEEDLE") if (n // 50) % 2 else ("NEEDLE", "needle")
        text = (box.root / f"f{n % 50}.txt").read_text(encoding="utf-8")
        old, new = words if words[0] in text else words[::-1]
        return {"old_string": old, "new_string": new, "replace_all": True}

    await some(0, 200)
    gc.collect()
    tasks, before = len(asyncio.all_tasks()), resident()
    await some(200, calls - 200)
    gc.collect()
    assert resident() - before < GROWTH_KB
    assert len(asyncio.all_tasks()) == tasks
