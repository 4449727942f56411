"""Who hears of an event, side by side and within bounds; nothing is left when somebody gives up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.hooks.answered.merging import merged
from gatewright.agent.hooks.configured.book import Terms, book_of
from gatewright.agent.hooks.configured.reading import read
from gatewright.agent.hooks.engine import AT_ONCE, Engine, EnginePorts
from gatewright.agent.hooks.handlers import Handler, Place
from gatewright.agent.hooks.kinds import commands as kinds
from gatewright.agent.hooks.kinds.running import Firing, Output, Run
from gatewright.agent.record.events import AnyEvent, HookRan
from tests.fakes.waiting import PATIENCE, eventually
from tests.hooks.making import commands, firing
from tests.hooks.scripts import command

FINE, NO = Output(exit=0), Output(exit=2, stderr="no")


class Bench:
    def __init__(self, run: Run, *handlers: dict[str, Any], event: str = "PreToolUse") -> None:
        self.said: list[AnyEvent] = []
        self.told: list[tuple[str, bool]] = []
        raw = {event: [{"hooks": list(handlers)}]}
        given = read(raw, Place("user"), lambda rule: "")
        self.engine = Engine(
            EnginePorts(
                kinds={"command": run},
                applies=lambda condition, call, access: condition == "yes",
                publish=lambda event, agent: self.said.append(event),
                tell=lambda text, agent, wakes: self.told.append((text, wakes)),
                ready=_ready,
            ),
            book_of((), (given,), Terms(trusted=True), lambda rule: ""),
        )

    @property
    def ran(self) -> list[HookRan]:
        return [each for each in self.said if isinstance(each, HookRan)]


async def _ready() -> None:
    pass


def after(seconds: Callable[[str], float], output: Callable[[str], Output]) -> Run:
    async def run(handler: Handler, firing: Firing) -> Output:
        name = handler.said.command
        if (wait := seconds(name)) > 0:
            await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=wait)
        return output(name)

    return run


async def test_answers_come_in_the_order_of_sources_not_of_finishing(tmp_path: Path) -> None:
    run = after(lambda name: 0.1 if name == "a" else 0.0, lambda name: FINE)
    bench = Bench(run, command("a"), command("b"))
    runs = await bench.engine.fire(firing("PreToolUse", tmp_path, "Bash"))
    assert [each.handler.name for each in runs] == ["a", "b"]


async def test_the_first_refusal_is_final_and_stops_the_rest(tmp_path: Path) -> None:
    run = after(
        lambda name: 600.0 if name == "slow" else 0.0, lambda name: NO if name == "no" else FINE
    )
    bench = Bench(run, command("slow"), command("no"))
    began = time.monotonic()
    runs = await bench.engine.fire(firing("PreToolUse", tmp_path, "Bash"))
    assert time.monotonic() - began < PATIENCE
    assert merged("PreToolUse", runs).word == "deny"
    assert {each.command: each.outcome for each in bench.ran} == {
        "slow": "cancelled",
        "no": "success",
    }


async def test_a_thousand_handlers_run_a_few_at_a_time(tmp_path: Path) -> None:
    now, most = 0, 0

    async def run(handler: Handler, firing: Firing) -> Output:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.001)
        now -= 1
        return FINE

    bench = Bench(run, *(command(f"c{n}") for n in range(1000)))
    runs = await bench.engine.fire(firing("PreToolUse", tmp_path, "Bash"))
    assert (len(runs), most) == (1000, AT_ONCE)


async def test_what_runs_behind_decides_nothing_and_may_wake(tmp_path: Path) -> None:
    run = after(lambda name: 0.0, lambda name: NO if name == "wakes" else FINE)
    entries = [command("behind", **{"async": True}), command("wakes", asyncRewake=True)]
    bench = Bench(run, *entries)
    assert await bench.engine.fire(firing("PreToolUse", tmp_path, "Bash")) == ()
    await eventually(lambda: len(bench.told) == 1 and len(bench.ran) == 2)
    assert bench.told == [("[PreToolUse hook, wakes] no", True)]


async def test_what_runs_behind_ends_with_the_session(tmp_path: Path) -> None:
    run = after(lambda name: 60.0, lambda name: FINE)
    bench = Bench(run, command("behind", **{"async": True}))
    await bench.engine.fire(firing("PreToolUse", tmp_path, "Bash"))
    await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.01)
    await bench.engine.close()
    assert [each.outcome for each in bench.ran] == ["cancelled"]


async def test_all_of_an_end_share_one_budget(tmp_path: Path) -> None:
    run = after(lambda name: 60.0 if name == "slow" else 0.0, lambda name: FINE)
    bench = Bench(run, command("slow"), command("quick"), event="SessionEnd")
    runs = await bench.engine.fire(firing("SessionEnd", tmp_path), within=0.2)
    assert [each.handler.name for each in runs] == ["quick"]


async def test_one_switched_off_does_not_run_and_if_is_asked(tmp_path: Path) -> None:
    run = after(lambda name: 0.0, lambda name: FINE)
    bench = Bench(run, command("a"), command("b", **{"if": "yes"}), command("c", **{"if": "no"}))
    (first,) = (each for each in bench.engine.book.handlers if each.name == "a")
    bench.engine.off.add(first.key)
    runs = await bench.engine.fire(firing("PreToolUse", tmp_path, "Bash"))
    assert [each.handler.name for each in runs] == ["b"]


async def test_a_kind_that_does_not_run_yet_fails_and_a_strict_one_refuses(tmp_path: Path) -> None:
    run = after(lambda name: 0.0, lambda name: FINE)
    for strict, word in ((False, ""), (True, "deny")):
        tool = {"type": "mcp_tool", "server": "s", "tool": "t", "strict": strict}
        bench = Bench(run, tool)
        runs = await bench.engine.fire(firing("PreToolUse", tmp_path, "Bash"))
        assert merged("PreToolUse", runs).word == word
        assert "do not run here yet" in bench.ran[0].message


@pytest.mark.parametrize(
    ("times", "first"), [(10, "trap '' TERM; "), pytest.param(200, "", marks=pytest.mark.proof)]
)
@pytest.mark.timeout(300)
async def test_interrupts_leave_nothing(
    tmp_path: Path, times: int, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "GRACE", 3 * PATIENCE)  # until what traps the signal is killed
    runner = commands(tmp_path)
    text = f"{first}echo $$ >> pids; until [ -e go ]; do sleep 0.05; done"
    bench = Bench(runner.run, command(text), command(f"{text} # another"))
    pids = tmp_path / "pids"
    for number in range(1, times + 1):
        task = asyncio.ensure_future(bench.engine.fire(firing("PreToolUse", tmp_path, "Bash")))
        await eventually(lambda n=number: _count(pids) >= 2 * n)  # type: ignore[misc]
        task.cancel()
        began = time.monotonic()
        await asyncio.wait({task})
        assert time.monotonic() - began < PATIENCE
        assert task.cancelled()
    (tmp_path / "go").touch()
    await runner.close()
    for pid in pids.read_text(encoding="utf-8").split():
        await eventually(lambda pid=pid: not Path(f"/proc/{pid}").exists())  # type: ignore[misc]
    assert [each.outcome for each in bench.ran] == ["cancelled"] * (2 * times)


def _count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").split()) if path.exists() else 0
