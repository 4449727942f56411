"""Going on with a run: what is done is not done again, and races end as they did."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import WorkflowProgressed
from gatewright.agent.workflows.engine.wire import CallOptions
from gatewright.agent.workflows.runs.journal import NAME, InUse, Journal
from gatewright.agent.workflows.runs.keys import key_of
from gatewright.agent.workflows.runs.past import hash_of, known_rerun, read_past
from gatewright.agent.workflows.runs.run_port import Outcome, Work
from tests.fakes.waiting import eventually
from tests.workflows.runs.fakes import ID, Globals, Script, Stage, failed, result, said
from tests.workflows.runs.test_runs import echoed, number


async def two_steps(globals: Globals) -> Any:
    """Thirty items through two steps without a barrier: sixty agents."""

    async def item(n: int) -> Any:
        first = await globals.agent(f"find {n}", phase="Find", label=f"find-{n}")
        return await globals.agent(f"check {first} {n}", phase="Check")

    return await globals.parallel([item(n) for n in range(30)])


def files_of(folder: Path) -> Path:
    return folder / ID / NAME


async def through(folder: Path, script: Script, answers: Any = echoed, **more: Any) -> Stage:
    stage = Stage(folder, answers)
    await stage.through(script, **more)
    await stage.close()
    return stage


def values(stage: Stage) -> Any:
    return result(stage.jobs[-1].run)


async def test_all_of_a_run_is_replayed_and_nobody_works(tmp_path: Path) -> None:
    before = await through(tmp_path, two_steps)
    after = await through(tmp_path, two_steps, resumes=True)
    assert values(before) == values(after)
    assert (len(before.agents.started), len(after.agents.started)) == (60, 0)
    assert after.jobs[0].run.money.cost == 0


async def test_one_failure_of_many_runs_one_again(tmp_path: Path) -> None:
    async def fails_at_four(work: Work) -> Outcome:
        return failed("model") if work.index == 4 else said(work.prompt)

    async def script(globals: Globals) -> Any:
        return await globals.parallel([globals.agent(f"task {n}") for n in range(102)])

    before = await through(tmp_path, script, fails_at_four)
    assert values(before)[3] is None
    after = await through(tmp_path, script, resumes=True)
    assert [worker.work.prompt for worker in after.agents.started] == ["task 3"]
    assert values(after) == [f"task {n}" for n in range(102)]


@pytest.mark.parametrize(
    ("rerun", "again"),
    [("failed", 0), ("all", 60), ("Check", 30), ("find-3", 1), ("stale", 0)],
)
async def test_what_is_asked_for_is_done_again(tmp_path: Path, rerun: str, again: int) -> None:
    await through(tmp_path, two_steps)
    after = await through(tmp_path, two_steps, resumes=True, rerun=rerun)
    assert len(after.agents.started) == again
    assert known_rerun(read_past(tmp_path / ID), rerun) == ""
    assert "Phases: Find, Check" in known_rerun(read_past(tmp_path / ID), "Fnid")


async def test_another_model_makes_results_stale_and_not_lost(tmp_path: Path) -> None:
    await through(tmp_path, two_steps)
    stage = Stage(tmp_path, echoed)
    stage.agents.model = "model-b"
    run = await stage.through(two_steps, resumes=True)
    assert {call.stale for call in run.calls} == {"it was answered by model-a"}
    assert not stage.agents.started
    await stage.through(two_steps, resumes=True, rerun="stale")
    assert len(stage.agents.started) == 60
    await stage.close()


async def test_an_edited_prompt_runs_alone_wherever_it_stands(tmp_path: Path) -> None:
    async def edited(globals: Globals) -> Any:
        calls = [globals.agent("new 0"), *(globals.agent(f"task {n}") for n in (2, 0, 1))]
        return await globals.parallel(calls)

    async def script(globals: Globals) -> Any:
        return await globals.parallel([globals.agent(f"task {n}") for n in range(3)])

    await through(tmp_path, script)
    after = await through(tmp_path, edited, resumes=True)
    assert [worker.work.prompt for worker in after.agents.started] == ["new 0"]
    assert values(after) == ["new 0", "task 2", "task 0", "task 1"]


async def test_progress_of_a_shorter_start_is_its_own(tmp_path: Path) -> None:
    async def script(globals: Globals) -> Any:
        return await globals.parallel([globals.agent(f"task {n}") for n in range(100)])

    gate = asyncio.Event()

    async def held(work: Work) -> Outcome:
        await gate.wait()
        return said(work.prompt)

    async def shorter(globals: Globals) -> Any:
        return await globals.agent("new")

    stage = Stage(tmp_path, echoed)
    await stage.through(script)
    stage.agents.answers, stage.events[:] = held, []
    run = stage.launch(shorter, resumes=True)
    await eventually(lambda: any(isinstance(e, WorkflowProgressed) for e in stage.events))
    gate.set()
    await run.gone.wait()
    told = [each for each in stage.events if isinstance(each, WorkflowProgressed)]
    assert {call.index for each in told for call in each.calls} == {1}
    await stage.close()


async def test_equal_calls_are_told_apart_by_their_order_and_fresh_ones_run(tmp_path: Path) -> None:
    count = 0

    async def counted(work: Work) -> Outcome:
        nonlocal count
        count += 1
        return said(f"{work.prompt} {count}")

    async def script(globals: Globals) -> Any:
        same = [await globals.agent("again") for _ in range(3)]
        return [*same, await globals.agent("new", fresh=True)]

    before = await through(tmp_path, script, counted)
    assert values(before) == ["again 1", "again 2", "again 3", "new 4"]
    after = await through(tmp_path, script, counted, resumes=True)
    assert values(after) == ["again 1", "again 2", "again 3", "new 5"]


async def test_races_end_as_they_did(tmp_path: Path) -> None:
    gates = [asyncio.Event() for _ in range(4)]

    async def held(work: Work) -> Outcome:
        await gates[number(work.prompt)].wait()
        return said(work.prompt)

    async def script(globals: Globals) -> Any:
        order: list[str] = []

        async def one(n: int) -> None:
            order.append(await globals.agent(f"task {n}"))

        await globals.parallel([one(n) for n in range(4)])
        return order

    stage = Stage(tmp_path, held)
    run = stage.launch(script)
    for n in (2, 0, 3, 1):
        gates[n].set()
        await eventually(partial(_settled, tmp_path, n))
    await run.gone.wait()
    await stage.close()
    won = ["task 2", "task 0", "task 3", "task 1"]
    assert result(run) == won
    after = await through(tmp_path, script, resumes=True)
    assert values(after) == won


def _settled(folder: Path, n: int) -> bool:
    key = key_of(f"task {n}", CallOptions())
    slot = read_past(folder / ID).slots.get((key, 1))
    return slot is not None and slot.settled is not None


async def test_a_run_that_lives_is_not_resumed(tmp_path: Path) -> None:
    held = Journal(tmp_path / ID)
    stage = Stage(tmp_path, echoed)
    with pytest.raises(InUse, match="goes on in another process"):
        stage.launch(two_steps)
    held.close()
    await stage.close()


async def test_large_results_have_files_and_a_lost_one_is_done_again(tmp_path: Path) -> None:
    async def large(work: Work) -> Outcome:
        return said(work.prompt * 20_000)

    async def script(globals: Globals) -> Any:
        return await globals.parallel([globals.agent(f"task {n}") for n in range(3)])

    await through(tmp_path, script, large)
    spilled = sorted((tmp_path / ID / "results").iterdir())
    assert len(spilled) == 3
    assert files_of(tmp_path).stat().st_size < 10_000
    spilled[0].write_bytes(b"{torn")
    after = await through(tmp_path, script, large, resumes=True)
    assert len(after.agents.started) == 1
    assert values(after) == [f"task {n}" * 20_000 for n in range(3)]


async def test_files_that_changed_since_make_a_result_stale(tmp_path: Path) -> None:
    written = tmp_path / "out.txt"

    async def writes(work: Work) -> Outcome:
        written.write_text(work.prompt, encoding="utf-8")
        files = {str(written): hash_of(written)}
        return Outcome(ok=True, value="written", files=files)

    async def script(globals: Globals) -> Any:
        return await globals.agent("task 1")

    await through(tmp_path, script, writes)
    stage = Stage(tmp_path, writes)
    assert not (await stage.through(script, resumes=True)).calls[0].stale
    written.write_text("changed", encoding="utf-8")
    run = await stage.through(script, resumes=True)
    assert run.calls[0].stale == f"{written} is not as it left it"
    assert not stage.agents.started
    await stage.close()


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.proof)])
async def test_a_journal_that_was_cut_at_any_byte_goes_on(tmp_path: Path, step: int) -> None:
    async def script(globals: Globals) -> Any:
        first = await globals.parallel([globals.agent(f"task {n}") for n in range(2)])
        return [*first, await globals.agent("task 2", label="last")]

    whole = tmp_path / "whole"
    before = await through(whole, script)
    text = files_of(whole).read_bytes()
    for length in range(0, len(text), step):
        folder = tmp_path / "cut"
        shutil.copytree(whole, folder)
        files_of(folder).write_bytes(text[:length])
        known = _results(folder)
        after = await through(folder, script, resumes=True)
        assert values(after) == values(before), length
        assert len(after.agents.started) == 3 - len(known), length
        shutil.rmtree(folder)


def _results(folder: Path) -> Sequence[Any]:
    return [slot for slot in read_past(folder / ID).slots.values() if slot.settled is not None]
