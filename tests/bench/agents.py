"""What another agent of a session costs: opened, asked one question, closed, many times.

`python tests/bench/agents.py [--children N]`. The model is scripted, so what is measured is ours.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gatewright.agent.record.events import TextDelta
from gatewright.agent.session.children import AgentSpec
from tests.fakes.house import House, house
from tests.fakes.journals import journal

ANSWER = "say: hello\n---\n"


def resident() -> int:
    """Bytes of this process in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


async def one(made: House, number: int) -> float:
    began = time.perf_counter()
    run = made.session.spawn(AgentSpec(name=f"a{number}", kind="bench", prompt="say hello"))
    await run.idle()
    await run.close()
    return time.perf_counter() - began


async def children(count: int) -> None:
    async with house(ANSWER * (count + 21)) as made:
        made.session.submit("hi")
        await made.session.idle()
        for number in range(20):
            await one(made, -1 - number)
        gc.collect()
        before = resident()
        taken = [await one(made, number) for number in range(count)]
        gc.collect()
        grown = (resident() - before) / count
    print(
        f"{count} children, opened, asked once and closed: p50 {statistics.median(taken) * 1e3:.2f}"
    )
    print(
        f"ms, p95 {sorted(taken)[int(count * 0.95)] * 1e3:.2f} ms; memory left {grown:.0f} B each"
    )


async def idle_ones(count: int) -> None:
    """What a living child holds, its turn over."""
    async with house(ANSWER * (count + 1)) as made:
        made.session.submit("hi")
        await made.session.idle()
        gc.collect()
        before = resident()
        runs = [
            made.session.spawn(AgentSpec(name=f"a{n}", kind="bench", prompt="say hello"))
            for n in range(count)
        ]
        for run in runs:
            await run.idle()
        gc.collect()
        print(f"{count} living children: {(resident() - before) / count / 1000:.1f} kB each")


def deltas(agents: int, each: int) -> None:
    made = journal()
    slow = made.hub().subscribe()
    watched = made.hub("main/a0").subscribe()
    began = time.perf_counter()
    for number in range(agents * each):
        made.publish(TextDelta(text="x"), f"main/a{number % agents}")
    taken = (time.perf_counter() - began) / (agents * each)
    print(
        f"{agents} children with {each} deltas: {taken * 1e6:.2f} µs each; "
        f"a slow reader of one holds {len(watched.waiting())}, of the main agent "
        f"{len(slow.waiting())}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--children", type=int, default=1_000)
    count = parser.parse_args().children
    asyncio.run(children(count))
    asyncio.run(idle_ones(min(count, 200)))
    deltas(20, 20_000)


if __name__ == "__main__":
    main()
