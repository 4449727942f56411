"""What agents cost from their order to their end: starting, holding, stopping, handing over.

`python tests/bench/agent_lives.py [--agents N]`. The model is a script on this machine, so what is
measured is ours. Each line ends with its target.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gatewright.agent.agents.results import notice, result
from gatewright.agent.record.events import AgentStarted, UserMessage
from gatewright.tools.access import MAIN
from tests.agents.crews import team
from tests.fakes.job import FakeJob
from tests.fakes.waiting import eventually
from tests.permissions.composed import desk

HOLD = "wait: gate\nsay: done\n"


class Timed(list[Any]):
    """Remembers when each came."""

    def __init__(self) -> None:
        super().__init__()
        self.at: list[float] = []

    def append(self, item: Any) -> None:
        self.at.append(time.time())
        super().append(item)


async def starts(count: int, definitions: int) -> tuple[float, float]:
    """Milliseconds from an input to its first request, and from an order to that of the agent."""
    call = {"description": "look", "subagent_type": "general-purpose"}
    script: list[str] = []
    for number in range(count):
        given = json.dumps({**call, "prompt": f"task {number}"})
        script += [f"call: Agent {given}", "say: found", "say: done"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = folder / "project" / ".claude" / "agents"
        places.mkdir(parents=True)
        for number in range(definitions):
            text = f"---\nname: kind-{number}\ndescription: does {number}\n---\nDo it.\n"
            (places / f"kind-{number}.md").write_text(text, encoding="utf-8")
        async with desk(folder, script) as opened:
            opened.server.requests = timed = Timed()
            for number in range(count):
                opened.session.submit(f"go {number}")
                await opened.ended(number + 1)
            asked = [e.timestamp for e in opened.seen.envelopes if _typed(e.event)]
            every = opened.seen.envelopes
            ordered = [e.timestamp for e in every if isinstance(e.event, AgentStarted)]
            main = [timed.at[3 * n] - asked[n] for n in range(1, count)]
            child = [timed.at[3 * n + 1] - ordered[n] for n in range(1, count)]
    return statistics.median(main) * 1e3, statistics.median(child) * 1e3


def _typed(event: object) -> bool:
    return isinstance(event, UserMessage) and not event.hidden


async def stopping(count: int) -> None:
    """A tree: one, four below it, and three below each of those."""
    async with team(HOLD) as made:
        top = made.start("top")
        lives = [top]
        await made.provider.reached("gate")
        for n in range(count - 1):
            above = lives[0] if n < 4 else lives[1 + n % 4]
            lives.append(made.start(f"t{n}", owner=above.path, parent=above.path))
        await eventually(lambda: len(made.provider.requests) >= count)
        began = time.perf_counter()
        made.crew.stop(top, "person")
        await top.ended.wait()
        seen = time.perf_counter() - began
        for life in lives:
            await life.gone.wait()
        gone = time.perf_counter() - began
    print(
        f"stop of a tree of {count}: seen after {seen * 1e3:.1f} ms, "
        f"gone after {gone * 1e3:.1f} ms (100, 2000)"
    )


async def holding(count: int) -> None:
    async with team("say: started") as made:
        warm = made.start("warm")
        await warm.gone.wait()
        jobs = made.house.session.jobs_of
        gc.collect()
        tracemalloc.start()
        lives = [made.start(f"t{n}") for n in range(count)]
        work = [FakeJob(f"job {n}") for n in range(count)]
        for life, job in zip(lives, work, strict=True):
            jobs(life.path).adopt(job)
        await eventually(lambda: all(life.phase == "waiting" for life in lives))
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] / count / 1000
        tracemalloc.stop()
        print(f"{count} waiting agents hold {held:.1f} kB each (2000)")
        await asyncio.sleep(0.6)
        loop: Any = asyncio.get_running_loop()
        woken, plain = [0], loop._run_once

        def counted() -> None:
            woken[0] += 1
            plain()

        loop._run_once = counted
        await asyncio.sleep(2.0)
        woken[0] -= 2  # this wait, and its end
        print(f"{count} waiting agents for 2 s: {woken[0]} wake-ups (0)")
        for job in work:
            job.ended.set()
        for life in lives:
            await life.gone.wait()


async def handing() -> None:
    async with team("say: x") as made:
        life = made.start("look", owner=MAIN)
        await life.gone.wait()
        life.said = "A line of a report with <tags> and `code`, about 60 characters.\n" * 470
        taken: list[float] = []
        for _ in range(200):
            began = time.perf_counter()
            result(life)
            taken.append(time.perf_counter() - began)
        told: list[float] = []
        for _ in range(200):
            began = time.perf_counter()
            notice(life)
            told.append(time.perf_counter() - began)
    print(
        f"a report of {len(life.said):,} characters: result {statistics.median(taken) * 1e3:.2f} "
        f"ms, notice {statistics.median(told) * 1e3:.2f} ms (1)"
    )


async def everything(count: int) -> None:
    for definitions, target in ((0, 5), (30, 20)):
        main, child = await starts(count, definitions)
        print(
            f"start with {definitions} definitions: {child:.1f} ms to its request, "
            f"{child - main:+.1f} ms above one of the main agent's ({target})"
        )
    await stopping(20)
    await holding(20)
    await holding(200)
    await handing()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=30)
    asyncio.run(everything(parser.parse_args().agents))


if __name__ == "__main__":
    main()
