"""Times hooks: `python -m tests.bench.hooks`. Each figure beside a bare spawn in the same run.

Prints the targets and what was found; gates nothing by itself.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from gatewright.agent.hooks.configured.book import Book, Terms, book_of
from gatewright.agent.hooks.engine import Engine, EnginePorts
from gatewright.agent.hooks.shown.checks import Ground, troubles
from gatewright.agent.hooks.shown.trial import firing_of, sample
from gatewright.agent.settings.hook_layers import HookLayer
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.traits import Source
from gatewright.permissions.condition import is_about, problem_of
from gatewright.permissions.context import Call
from gatewright.tools.access import Access
from tests.hooks.making import commands

RUNS = 200
MANY = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000  # 10,000 is the target's own number
BARE = ("/bin/sh", "-c", "true")


async def nothing() -> None:
    """No transcript is kept here."""


def book(*entries: dict[str, object], matcher: str = "Bash") -> Book:
    raw = {"PreToolUse": [{"matcher": matcher, "hooks": list(entries)}]}
    layer = HookLayer(source=Source.USER, where="bench", raw=raw)
    return book_of((layer,), (), Terms.of(Settings(), trusted=True, bare=False), problem_of)


def numbered(count: int, text: str = "true #{}") -> list[dict[str, object]]:
    return [{"type": "command", "command": text.format(n)} for n in range(count)]


def always(*_: object) -> bool:
    return True


def unheard(*_: object) -> None:
    return


def engine(root: Path, made: Book) -> Engine:
    ports = EnginePorts(
        kinds={"command": commands(root).run},
        applies=always,
        publish=unheard,
        tell=unheard,
        ready=nothing,
    )
    return Engine(ports, made)


async def spawned() -> None:
    child = await asyncio.create_subprocess_exec(
        *BARE,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    await child.communicate(b"{}\n")


async def eight() -> None:
    await asyncio.gather(*(spawned() for _ in range(8)))


async def side_by_side(
    bare: Callable[[], Awaitable[object]], ours: Callable[[], Awaitable[object]], runs: int = RUNS
) -> tuple[list[float], list[float]]:
    """In turn, so that both see the same machine; milliseconds, sorted."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for each, found in zip((bare, ours), times, strict=True):
            began = time.perf_counter()
            await each()
            found.append((time.perf_counter() - began) * 1e3)
    return sorted(times[0]), sorted(times[1])


def said(name: str, bare: list[float], ours: list[float], target: str) -> None:
    for share in (0.0, 0.5, 0.95):
        one, two = bare[int(share * len(bare))], ours[int(share * len(ours))]
        print(
            f"{name:28} p{round(share * 100)}  {two:7.2f} ms  bare {one:7.2f} ms"
            f"  ratio {two / one:5.2f}  {two - one:+6.2f} ms  ({target})"
        )


def median_us(act: Callable[[], object], rounds: int = 2_000) -> float:
    """The lowest of five medians, of our own thread's time: others use the machine as well."""
    medians: list[float] = []
    for _ in range(5):
        times: list[float] = []
        for _ in range(rounds // 5):
            began = time.thread_time()
            act()
            times.append(time.thread_time() - began)
        medians.append(statistics.median(times))
    return min(medians) * 1e6


async def running(root: Path) -> None:
    firing = firing_of("PreToolUse", sample("PreToolUse", root), root, Access())
    one, all_of_them = engine(root, book(*numbered(1))), engine(root, book(*numbered(8)))
    bare, ours = await side_by_side(spawned, lambda: one.fire(firing))
    said("one hook", bare, ours, "+ 2 ms p50, + 4 ms p95")
    bare, ours = await side_by_side(eight, lambda: all_of_them.fire(firing), RUNS // 4)
    said("eight side by side", bare, ours, "+ 5 ms")
    rss, open_now = memory(), descriptors()
    began = time.perf_counter()
    for _ in range(MANY):
        await one.fire(firing)
    each = (time.perf_counter() - began) / MANY * 1e3
    print(
        f"{MANY} runs: {each:.2f} ms each, RSS {memory() - rss:+.1f} MB (+ 5 MB for 10,000),"
        f" descriptors {descriptors() - open_now:+d} (0)"
    )
    await one.close()


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def judging(root: Path) -> None:
    made = book(*numbered(100))
    assert len(made.matching("PreToolUse", "Bash")) == 100
    micros = median_us(lambda: made.matching("PreToolUse", "Bash"))
    print(f"matching 100 handlers        {micros:8.1f} us  (20 us)")
    from gatewright.permissions.check import call_and_context

    case = {"tool": "Bash", "input": {"command": "npm test && git status"}, "context": {}}
    call, context = call_and_context(case)
    asked = Call(call.tool, call.input, call.access)
    micros = median_us(lambda: is_about("Bash(git *)", asked, context), 500)
    print(f"if                           {micros:8.1f} us  (300 us)")
    ground = Ground(root=root, home=root, env=os.environ, urls=(), kinds=frozenset({"command"}))
    fifty = book(*numbered(50, "python3 ./script{}.py")).handlers
    micros = median_us(lambda: list(troubles(fifty, ground)), 50)
    print(f"check of 50 handlers         {micros / 1e3:8.2f} ms  (30 ms)")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        judging(Path(folder))
        asyncio.run(running(Path(folder)))


if __name__ == "__main__":
    main()
