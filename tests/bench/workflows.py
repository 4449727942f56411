"""What workflows cost: a worker, a thousand agents of a whole session, replay, a run that waits.

`python tests/bench/workflows.py [--agents N]`; keys beside a run: `agent_screen.py workflow`. The
model answers at once, so what is measured is ours; times are of the processor where many things
run at once.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gatewright.agent.build import open_session
from gatewright.agent.extensions.workflows.run_extension import WorkflowRuns
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.providers.protocol import Piece, Request
from gatewright.agent.session.session import Session
from gatewright.agent.workflows.engine.engine import Engine
from gatewright.agent.workflows.engine.script_limits import Limits
from gatewright.agent.workflows.engine.wire import BudgetNow, Settled
from gatewright.agent.workflows.runs.run import Run
from gatewright.agent.workflows.script.check import check
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import ToolCall
from gatewright.tools.system.processes import spawn
from tests.fakes.scripted_provider import Answer, ScriptedProvider, read_script

SCRIPT = """\
export const meta = {name: 'many', description: 'Many agents.'};
const items = Array.from({length: %d}, (_, n) => n);
const found = await parallel(items, n => agent(`task ${n}`));
return found.filter(each => each === 'done').length;
"""
ONE = "export const meta = {name: 'one', description: 'One.'};\nreturn await agent('task');\n"


class Noting(ScriptedProvider):
    """Says when it is asked."""

    def __init__(self, answers: Sequence[Answer], *, repeat: bool = False) -> None:
        super().__init__(answers, repeat=repeat)
        self.asked = asyncio.Event()

    def stream(self, request: Request) -> AsyncGenerator[Piece]:
        self.asked.set()
        return super().stream(request)


def resident() -> int:
    """Bytes of this process in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[tuple[Session, WorkflowRuns, Noting]]:
    """A whole session whose agents are answered at once."""
    home, project = folder / "home", folder / "project"
    (home / ".gatewright").mkdir(parents=True, exist_ok=True)
    project.mkdir(exist_ok=True)
    settings = {"smallModel": "demo", "sandbox": {"enabled": False}}
    (home / ".gatewright" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    options = LaunchOptions(cwd=str(project), trust=True, model="demo")
    session = await open_session(options, env, interactive=False)
    session.submit("hi")
    await session.idle()
    runs = session.part(WorkflowRuns)
    main = session.agent(MAIN)
    assert runs is not None
    assert main is not None
    assert main.models.current is not None
    provider = Noting(read_script("say: done"), repeat=True)
    model = msgspec.structs.replace(main.models.current, provider=provider)
    runs.opened().models(lambda name, effort: model)
    try:
        yield session, runs, provider
    finally:
        await session.close()


async def launched(session: Session, runs: WorkflowRuns, **input: object) -> Run:
    result = await session.call(ToolCall("bench", "Workflow", dict(input)))
    assert result.ok, result.content
    book = runs.opened().runs
    return book.runs[str(result.data["runId"])]


async def worker(count: int) -> None:
    """The engine alone: its start, its first call, the way there and back, its memory."""
    one, many = check(ONE), check(SCRIPT % count)
    starts: list[float] = []
    for _ in range(9):
        began = time.perf_counter()
        engine = await Engine.start(one, Limits(), spawn)
        await engine.begin(UNSET, BudgetNow())
        await anext(engine.batches())
        starts.append(time.perf_counter() - began)
        await engine.close()
    engine = await Engine.start(many, Limits(), spawn)
    await engine.begin(UNSET, BudgetNow())
    batches = engine.batches()
    first = await anext(batches)
    began = time.perf_counter()
    for id in range(1, count):
        await engine.settle(Settled(id, ok=True, value="done"))
        await anext(batches)
    each = (time.perf_counter() - began) / (count - 1)
    status = Path(f"/proc/{engine.pid}/status").read_text(encoding="ascii")
    most = int(status.partition("VmHWM:")[2].split()[0]) / 1000
    await engine.close()
    assert len(first) == count
    starts.sort()
    print(f"worker and first call: p50 {starts[4] * 1e3:.0f} ms; there and back", end=" ")
    print(f"{each * 1e3:.2f} ms; {most:.0f} MB with {count} calls (32)", flush=True)


class Mute(Noting):
    """Never answers."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        self.asked.set()
        await asyncio.Event().wait()
        async for piece in super().stream(request):
            yield piece


async def waiting(folder: Path, seconds: float = 3.0) -> None:
    """A run whose one agent waits for its model: nobody wakes up, here or in the worker."""
    async with opened(folder) as (session, runs, provider):
        mute = Mute(read_script("say: done"), repeat=True)
        main = session.agent(MAIN)
        assert main is not None
        assert main.models.current is not None
        model = msgspec.structs.replace(main.models.current, provider=mute)
        runs.opened().models(lambda name, effort: model)
        del provider
        run = await launched(session, runs, script=ONE)
        await mute.asked.wait()
        await asyncio.sleep(6.0)  # until its siblings, of which there are none, were waited for
        loop: Any = asyncio.get_running_loop()
        woken, plain = [0], loop._run_once

        def counted() -> None:
            woken[0] += 1
            plain()

        loop._run_once = counted
        await asyncio.sleep(seconds)
        loop._run_once = plain
        print(f"a run that waits, {seconds:g} s: {woken[0] - 2} wake-ups (0)")
        run.stop_now("person")
        await run.gone.wait()


async def thousand(folder: Path, count: int) -> None:
    async with opened(folder) as (session, runs, provider):
        warm = await launched(session, runs, script=SCRIPT % 20)
        await warm.gone.wait()
        gc.collect()
        before, wall, used = resident(), time.perf_counter(), time.process_time()
        run = await launched(session, runs, script=SCRIPT % count)
        await run.gone.wait()
        wall, used = time.perf_counter() - wall, time.process_time() - used
        most = resident() - before
        assert run.result == str(count), run.why
        print(f"{count} agents: {wall:.1f} s ({used:.1f} s of the processor),", end=" ")
        print(f"{used / count * 1e3:.2f} ms each; +{most / 1e6:.0f} MB", flush=True)
        wall, used = time.perf_counter(), time.process_time()
        again = await launched(session, runs, resumeFromRunId=run.id)
        await again.gone.wait()
        wall, used = time.perf_counter() - wall, time.process_time() - used
        assert again.result == str(count)
        assert len(provider.requests) == count + 20
        print(f"replay of {count}: {wall * 1e3:.0f} ms ({used * 1e3:.0f} of the processor)")
        took: list[float] = []
        for _ in range(9):
            provider.asked.clear()
            began = time.perf_counter()
            one = await launched(session, runs, script=ONE)
            await provider.asked.wait()
            took.append(time.perf_counter() - began)
            await one.gone.wait()
        took.sort()
        print(f"launch to first request: p50 {took[4] * 1e3:.0f} ms, most {took[-1] * 1e3:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=1_000)
    count = parser.parse_args().agents
    asyncio.run(worker(count))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(thousand(Path(folder), count))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(waiting(Path(folder)))


if __name__ == "__main__":
    main()
