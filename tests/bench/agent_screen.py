"""How the screen behaves while agents work: keys beside 50 that stream, a view of 2,000 events.

`python -m tests.bench.agent_screen [streaming] [workflow] [view] [quiet] [--check]`. The real app
on a real pty, with a session that only publishes events, so what is measured is the screen and the
hubs.
`--check` fails when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gatewright.agent.record import events as ev
from gatewright.agent.record.events_of_workflows import CallNow
from gatewright.agent.record.messages import TextPart
from gatewright.tools.blocks import Output
from tests.bench.tui import READY, WORDS, Figures, Screen, p95

AGENTS = 50
TOKENS = 100  # of each in a second
EVENTS = 2000
BEGIN = 3.0  # seconds until nothing of the start is left to do
LATER = 1.0  # seconds after which the child's agents begin


def child(kind: str, *, rows: int = 40) -> Screen:
    return Screen([sys.executable, str(Path(__file__)), "--child", kind], rows=rows)


def streaming(figures: Figures) -> None:
    """Keys while 50 agents stream, beside the same screen with none."""
    quiet = child("none")
    quiet.wait(READY)
    time.sleep(BEGIN)
    figures.add("no agents: key echo p95", p95(quiet.keys(60)), "ms")
    quiet.close()
    screen = child("streaming")
    screen.wait("47 more")
    time.sleep(1)
    cpu, written, begun = screen.cpu(), len(screen.raw), time.perf_counter()
    times = screen.keys(120, 0.05)
    passed = time.perf_counter() - begun
    name = f"{AGENTS} streaming agents"
    figures.add(f"{name}: key echo p50", statistics.median(times), "ms")
    figures.add(f"{name}: key echo p95", p95(times), "ms", 20)
    figures.add(f"{name}: CPU", (screen.cpu() - cpu) / passed * 100, "%", 70)
    figures.add(f"{name}: written in a second", (len(screen.raw) - written) / passed / 1000, "kB")
    figures.add(f"{name}: PSS", screen.memory(), "MB", 100)
    screen.close()


def workflow(figures: Figures) -> None:
    """Keys while 16 agents of a run stream, of a thousand that it will have had."""
    quiet = child("none")
    quiet.wait(READY)
    time.sleep(BEGIN)
    figures.add("no run: key echo p95", p95(quiet.keys(120, 0.05)), "ms")
    quiet.close()
    screen = child("workflow")
    screen.wait("review")
    time.sleep(BEGIN)
    cpu, begun = screen.cpu(), time.perf_counter()
    times = screen.keys(120, 0.05)
    passed = time.perf_counter() - begun
    figures.add("16 of a run stream: key echo p50", statistics.median(times), "ms")
    figures.add("16 of a run stream: key echo p95", p95(times), "ms", 20)
    figures.add("16 of a run stream: CPU", (screen.cpu() - cpu) / passed * 100, "%", 70)
    screen.close()


def view(figures: Figures) -> None:
    """From Enter on an agent to its last event on the screen."""
    times: list[float] = []
    for _ in range(5):
        screen = child("view")
        screen.wait("Explore")
        time.sleep(1)
        screen.send("\x1b[B")
        screen.wait("enter opens")
        since, start = len(screen.raw), time.perf_counter()
        screen.send("\r")
        screen.wait("LASTEVENT", since)
        times.append((time.perf_counter() - start) * 1000)
        screen.close()
    figures.add(f"view of {EVENTS:,} events, worst of 5", max(times), "ms", 100)


def quiet(figures: Figures) -> None:
    """Twenty agents that wait for something: nobody wakes up."""
    screen = child("waiting")
    screen.wait("17 more")
    time.sleep(3)
    before, cpu = len(screen.raw), screen.cpu()
    time.sleep(10)
    figures.add("20 waiting agents: bytes in 10 s", len(screen.raw) - before, "B", 0)
    figures.add("20 waiting agents: CPU", (screen.cpu() - cpu) * 10, "%", 0.5)
    screen.close()


# the child: the real app with a session that publishes what is measured


def run_child(kind: str) -> None:
    from gatewright.tui import app
    from tests.fakes.fake_session import FakeSession
    from tests.tui.agent_scenes import start

    session = FakeSession()
    session.now = time.time()
    tasks: list[asyncio.Task[None]] = []

    async def open_session() -> object:
        tasks.append(asyncio.create_task(begin()))
        return session.facade()

    async def begin() -> None:
        await asyncio.sleep(LATER)  # agents of a session that was just opened had ended with it
        if kind == "streaming":
            paths = [start(session, n, background=True) for n in range(AGENTS)]
            tasks.append(asyncio.create_task(_stream(session.publish, paths)))
        elif kind == "workflow":
            tasks.append(asyncio.create_task(_run(session.publish)))
        elif kind == "view":
            _history(session.publish, start(session, 0, background=True))
        elif kind == "waiting":
            for number in range(20):
                path = start(session, number, background=True)
                event = ev.AgentProgressed(child=path, state="its own work", phase="waiting")
                session.publish(event, agent=path)

    app.run(open_session)  # type: ignore[arg-type]


async def _stream(publish: Callable[..., None], paths: list[str]) -> None:
    """Tokens of all, as a session publishes them, and what each is at four times a second."""
    sent, told, begun = 0, 0.0, time.perf_counter()
    while True:
        passed = time.perf_counter() - begun
        due = int(passed * TOKENS)
        for path in paths:
            for _ in range(due - sent):
                publish(ev.TextDelta(text="word "), agent=path)
        sent = due
        if passed - told >= 0.25:
            told = passed
            for number, path in enumerate(paths):
                doing = ev.AgentProgressed(
                    child=path, state="answering", tokens=due, cost=due / 1e5, tools=number
                )
                publish(doing, agent=path)
        await asyncio.sleep(0.01)


async def _run(publish: Callable[..., None]) -> None:
    """Tokens of 16 agents of a run, and what the run tells of itself four times a second."""
    publish(ev.WorkflowStarted(run="wf_0123456789ab", name="review", description="Review it"))
    done = 0
    while True:
        for _ in range(25):
            for number in range(16):
                publish(ev.TextDelta(text="word "), agent=f"main/w{number}")
            await asyncio.sleep(0.01)
        done += 4
        calls = tuple(
            CallNow(done + n, f"look at {n}", "Look", "running", agent=f"w{n}", tokens=done)
            for n in range(16)
        )
        told = ev.WorkflowProgressed(
            run="wf_0123456789ab", name="review", phase="Look", total=done + 16, done=done,
            live=16, tokens=done * 900, cost=done / 100, seconds=done / 16, calls=calls,
        )  # fmt: skip
        publish(told)


def _history(publish: Callable[..., None], path: str) -> None:
    for number in range(EVENTS // 4):
        call = f"call-{number}"
        publish(
            ev.AssistantMessage(id=call, model="x", parts=(TextPart(WORDS * 2),)),
            ev.ToolStarted(
                call_id=call, name="Bash", input={}, verb="Run", target=f"make {number}"
            ),
            ev.ToolFinished(
                call_id=call, ok=True, content=(), view=(Output(WORDS),), summary="done", ms=9
            ),
            ev.Noticed(text=f"note {number}"),
            agent=path,
        )
    publish(ev.Noticed(text="LASTEVENT"), agent=path)


PARTS: dict[str, Callable[[Figures], None]] = {
    "streaming": streaming,
    "workflow": workflow,
    "view": view,
    "quiet": quiet,
}


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        run_child(sys.argv[2])
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    figures = Figures()
    for part in options.parts or PARTS:
        PARTS[part](figures)
    return int(options.check and figures.failed)


if __name__ == "__main__":
    sys.exit(main())
