"""A run from launch to end: places, failures, budgets, notices, and what a person does to it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import WorkflowEnded, WorkflowProgressed, WorkflowStarted
from gatewright.agent.workflows.runs.money import Allowed
from gatewright.agent.workflows.runs.run_port import Outcome, Work
from tests.fakes.waiting import PATIENCE, eventually
from tests.workflows.runs.fakes import Globals, Stage, Thrown, failed, result, said


async def echoed(work: Work) -> Outcome:
    return said(work.prompt)


def number(prompt: str) -> int:
    return int(prompt.rpartition(" ")[2])


async def mixed(work: Work) -> Outcome:
    """Every tenth fails, every seventh answers late."""
    n = number(work.prompt)
    if n % 7 == 0:
        for _ in range(n % 5 + 1):
            await asyncio.sleep(0)
    return failed("model") if n % 10 == 0 else said({"n": n})


async def test_a_thousand_agents_with_mixed_ends(tmp_path: Path) -> None:
    async def script(globals: Globals) -> Any:
        found = await globals.parallel([globals.agent(f"task {n}") for n in range(1000)])
        try:
            await globals.agent("task 1001")
        except Thrown as thrown:
            return [found, thrown.kind, str(thrown)]
        return None

    stage = Stage(tmp_path, mixed)
    run = await stage.through(script)
    values, kind, why = result(run)
    assert values == [None if n % 10 == 0 else {"n": n} for n in range(1000)]
    assert (kind, why) == ("agents", "A run makes 1,000 calls of agent() at most.")
    assert stage.agents.most == 16
    ended = stage.events[-1]
    assert isinstance(ended, WorkflowEnded)
    assert (ended.status, ended.ok, ended.failed, ended.replayed) == ("done", 900, 101, 0)
    assert ended.usage.input == 10_000
    assert ended.cost == pytest.approx(10.0)
    await stage.close()


async def test_an_end_is_told_once_with_who_failed(tmp_path: Path) -> None:
    async def script(globals: Globals) -> Any:
        globals.log("hello")
        await globals.agent("task 10", label="ten", phase="Find")
        return await globals.agent("task 11", phase="Find")

    stage = Stage(tmp_path, mixed)
    await stage.through(script)
    assert isinstance(stage.events[0], WorkflowStarted)
    assert [type(each) for each in stage.events].count(WorkflowEnded) == 1
    (job,) = stage.jobs
    notice = job.notice()
    assert "Status: done" in notice
    assert '"n": 11' in notice
    assert "1 ok, 1 failed, 0 replayed. Failed: ten (model: It failed: model.)" in notice
    assert "hello" in job.news()
    assert "hello" not in job.news()
    await stage.close()


async def test_what_is_uncaught_fails_the_run_and_stops_its_agents(tmp_path: Path) -> None:
    async def never(work: Work) -> Outcome:
        await asyncio.Event().wait()
        return said(work.prompt)

    async def script(globals: Globals) -> Any:
        other = asyncio.ensure_future(globals.agent("task 1"))
        try:
            return await globals.agent("task 2", agent_type="nobody")
        finally:
            other.cancel()

    stage = Stage(tmp_path, never)
    run = await stage.through(script)
    assert (run.stands, run.why) == ("failed", "There is no agent nobody. (line 3)")
    assert "resumeFromRunId" in stage.jobs[0].notice()
    assert not stage.agents.live
    assert stage.scheduler.taken == 0
    await stage.close()


async def test_a_budget_that_is_spent_throws_and_is_told_before(tmp_path: Path) -> None:
    async def script(globals: Globals) -> Any:
        done = 0
        while True:
            try:
                await globals.agent(f"task {done + 1}")
            except Thrown as thrown:
                return [done, thrown.kind]
            done += 1

    stage = Stage(tmp_path, echoed)
    run = await stage.through(script, allowed=Allowed(usd=0.1))
    assert result(run) == [10, "budget"]
    assert [text for text in stage.told if "80%" in text] == [
        "The workflow play has used 80% of $0.10."
    ]
    last = stage.engines[0].budgets[-1]
    assert (last.total_usd, last.agents_used, last.agents_left) == (0.1, 10, 990)
    assert last.spent_usd == pytest.approx(0.1)
    await stage.close()


async def test_one_that_fails_is_tried_again_as_often_as_said(tmp_path: Path) -> None:
    tries = 0

    async def flaky(work: Work) -> Outcome:
        nonlocal tries
        tries += 1
        return said("well") if tries == 3 else failed("model")

    async def script(globals: Globals) -> Any:
        return await globals.agent("task", retries=3)

    stage = Stage(tmp_path, flaky)
    run = await stage.through(script)
    assert (run.result, tries) == ("well", 3)
    assert run.money.cost == pytest.approx(0.03)
    assert len({worker.id for worker in stage.agents.started}) == 3
    await stage.close()


async def test_a_refusal_is_not_tried_again_and_throws_where_it_is_to(tmp_path: Path) -> None:
    async def no(work: Work) -> Outcome:
        del work
        return failed("refused")

    async def script(globals: Globals) -> Any:
        try:
            return await globals.agent("task", retries=3, on_error="throw")
        except Thrown as thrown:
            return thrown.kind

    stage = Stage(tmp_path, no)
    run = await stage.through(script)
    assert run.result == "refused"
    assert len(stage.agents.started) == 1
    await stage.close()


async def test_a_worker_that_dies_lets_its_agents_finish(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def held(work: Work) -> Outcome:
        await gate.wait()
        return said(work.prompt)

    async def script(globals: Globals) -> Any:
        return await globals.agent("task 1")

    stage = Stage(tmp_path, held)
    run = stage.launch(script)
    await eventually(lambda: bool(stage.agents.started))
    stage.engines[0].die()
    async with asyncio.timeout(PATIENCE):
        await run.ended.wait()
    assert run.stands == "failed"
    assert "died" in stage.jobs[0].notice()
    assert not stage.agents.started[0].stopped
    gate.set()
    async with asyncio.timeout(PATIENCE):
        await run.gone.wait()
    again = await stage.through(script, resumes=True)
    assert (again.result, len(stage.agents.started)) == ("task 1", 1)
    await stage.close()


async def test_a_disk_that_takes_nothing_more_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script(globals: Globals) -> Any:
        return [await globals.agent("task 1"), await globals.agent("task 2")]

    async def full(work: Work) -> Outcome:
        def fails(line: object) -> None:
            del line
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(stage.book.runs[work.run].journal, "add", fails)
        return said(work.prompt)

    stage = Stage(tmp_path, full)
    run = await stage.through(script)
    assert run.stands == "failed"
    assert run.why == "The journal of the run cannot be written: No space left on device."
    assert stage.scheduler.taken == 0
    await stage.close()


async def test_runs_beyond_three_wait_and_take_turns(tmp_path: Path) -> None:
    gate = asyncio.Event()
    begun: list[str] = []

    async def held(work: Work) -> Outcome:
        begun.append(work.run)
        await gate.wait()
        return said(work.prompt)

    async def script(globals: Globals) -> Any:
        return await globals.parallel([globals.agent(f"task {n}") for n in range(4)])

    stage = Stage(tmp_path, held, most=4)
    runs = [stage.launch(script, id=f"wf_00000{n}") for n in range(4)]
    await eventually(lambda: len(begun) == 4)
    await eventually(lambda: all(len(run.calls) == 4 for run in runs[:3]))
    assert runs[3].stands == "pending"
    gate.set()
    async with asyncio.timeout(PATIENCE):
        for run in runs:
            await run.gone.wait()
    assert [run.stands for run in runs] == ["done"] * 4
    later = begun[4:10]
    assert set(later[:3]) == {run.id for run in runs[:3]} or len(set(later)) >= 2
    assert stage.agents.most == 4
    await stage.close()


async def test_one_prefix_is_held_until_the_first_answer_begins(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def held(work: Work) -> Outcome:
        await gate.wait()
        return said(work.prompt)

    async def script(globals: Globals) -> Any:
        calls = [globals.agent(f"task {n}", label="same") for n in range(5)]
        return await globals.parallel([*calls, globals.agent("task 9", label="other")])

    stage = Stage(tmp_path, held)
    stage.agents.prefix = lambda options: options.label
    run = stage.launch(script)
    await eventually(lambda: len(stage.agents.started) == 2)
    assert [call.state for call in run.calls].count("queued") == 4
    assert stage.book.calls(run.id)[1].state == "held"
    stage.agents.started[0].began.set()
    await eventually(lambda: len(stage.agents.started) == 6)
    gate.set()
    async with asyncio.timeout(PATIENCE):
        await run.gone.wait()
    await stage.close()


async def test_what_a_person_does_to_a_run(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def held(work: Work) -> Outcome:
        await gate.wait()
        return said(work.prompt)

    async def script(globals: Globals) -> Any:
        return await globals.parallel([globals.agent(f"task {n}") for n in range(3)])

    stage = Stage(tmp_path, held, most=2)
    run = stage.launch(script)
    await eventually(lambda: len(stage.agents.started) == 2)
    book = stage.book
    assert "is paused" in book.pause(run.id)
    assert (book.views()[0].status, book.views()[0].running) == ("paused", 2)
    assert "Told to" in book.message(run.id, 1, "look at b.py too")
    assert stage.agents.started[0].heard == ["look at b.py too"]
    assert "was stopped" in await book.stop_call(run.id, 3)
    assert "begins anew" in await book.restart_call(run.id, 2)
    await eventually(lambda: len(stage.agents.started) == 3)
    for worker in stage.agents.live:
        worker.asks = True
    assert "goes on" in book.unpause(run.id)
    view = book.view(run.id)
    assert view is not None
    assert (view.status, view.asks) == ("paused", 2), "all that work wait for a person"
    gate.set()
    async with asyncio.timeout(PATIENCE):
        await run.gone.wait()
    assert result(run) == ["task 0", "task 1", None]
    assert "has ended" in book.pause(run.id)
    assert "There is no run" in await book.stop("wf_unknown")
    again = await stage.through(script, resumes=True)
    states = [call.state for call in again.calls]
    assert states == ["done", "replayed", "done"], "who was spoken with, and what was stopped"
    await stage.close()


async def test_a_stop_is_final_and_clears_nothing(tmp_path: Path) -> None:
    async def slow(work: Work) -> Outcome:
        if number(work.prompt):
            await asyncio.Event().wait()
        return said(work.prompt)

    async def script(globals: Globals) -> Any:
        first = await globals.agent("task 0")
        return [first, await globals.agent("task 1")]

    stage = Stage(tmp_path, slow)
    run = stage.launch(script)
    await eventually(lambda: len(stage.agents.started) == 2)
    assert "was stopped" in await stage.book.stop(run.id)
    assert (run.stands, run.why) == ("stopped", "Stopped by the person.")
    await run.gone.wait()
    cut = stage.agents.started[1]
    assert cut.stopped == "person"
    stage.agents.answers = echoed
    again = await stage.through(script, resumes=True)
    assert result(again) == ["task 0", "task 1"]
    work = stage.agents.started[2].work
    assert (work.agent, work.goes_on) == (cut.id, True), "who was cut off goes on"
    assert len(stage.agents.started) == 3
    await stage.close()


async def test_the_end_of_the_session_interrupts(tmp_path: Path) -> None:
    async def never(work: Work) -> Outcome:
        await asyncio.Event().wait()
        return said(work.prompt)

    async def script(globals: Globals) -> Any:
        return await globals.agent("task 0")

    stage = Stage(tmp_path, never)
    run = stage.launch(script)
    await eventually(lambda: bool(stage.agents.started))
    stage.leaving = True
    await stage.book.close()
    assert run.stands == "interrupted"
    (view,) = await Stage(tmp_path, never).book.past()
    assert (view.status, view.live, view.total) == ("interrupted", False, 1)


async def test_progress_is_told_a_few_times_a_second_and_bounded(tmp_path: Path) -> None:
    async def script(globals: Globals) -> Any:
        return await globals.parallel([globals.agent(f"task {n}") for n in range(300)])

    stage = Stage(tmp_path, echoed)
    await stage.through(script)
    told = [each for each in stage.events if isinstance(each, WorkflowProgressed)]
    assert 0 < len(told) < 60
    assert max(len(each.calls) for each in told) <= 64
    await stage.close()
