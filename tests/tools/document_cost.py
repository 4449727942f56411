"""What reading one document takes, measured in a process of its own: `python -m ... FILE`.

A test process has had other children, and its own peak is that of its largest test.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from pathlib import Path

from tests.fakes.toolbox import Toolbox, text


def peak(who: int) -> int:
    """Megabytes."""
    return resource.getrusage(who).ru_maxrss // 1024


def spent() -> float:
    """Seconds of the processor, of ourselves and of children: a busy machine adds nothing."""
    return sum(os.times()[:4])


async def main(path: Path) -> None:
    before, began = peak(resource.RUSAGE_SELF), spent()
    result = await Toolbox(path.parent).call("Read", file_path=path.name)
    cost = {
        "seconds": spent() - began,
        "own": peak(resource.RUSAGE_SELF) - before,
        "child": peak(resource.RUSAGE_CHILDREN),
        "fine": result.ok or "cannot be shown" in text(result),
    }
    print(json.dumps(cost))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
