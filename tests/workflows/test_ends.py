"""However a run ends, it is said once: deadlock, a dead worker, a spent budget, a storm of 429."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.extensions.workflows.run_extension import WorkflowRuns
from gatewright.agent.record.events import (
    AgentFinished,
    UserMessage,
    WorkflowEnded,
    WorkflowProgressed,
)
from tests.fakes.scripted_provider import read_script
from tests.fakes.waiting import eventually
from tests.permissions.composed import Desk, desk
from tests.workflows.test_session import OK, agreed, launch, notice_in, notices

META = "export const meta = {name: 'ends', description: 'How it ends.'};\n"
STORM = 12


async def ended(opened: Desk, count: int = 1) -> WorkflowEnded:
    """The end, and that it was told to the model exactly once."""
    end = await opened.seen.until(WorkflowEnded, count=count)
    await opened.session.idle()
    assert len(notices(opened)) == count
    assert f"Status: {end.status}" in notices(opened)[-1]
    return end


def worker() -> int:
    """The process of the script, among those that we started."""
    own = os.getpid()
    children = Path(f"/proc/{own}/task/{own}/children").read_text(encoding="ascii").split()
    (found,) = [
        int(pid) for pid in children if b"worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    return found


async def test_nothing_under_way_is_a_deadlock_at_once(tmp_path: Path) -> None:
    script = META + "log('here'); await new Promise(() => {});\n"
    async with desk(tmp_path, [launch(script), *OK]) as opened:
        opened.session.submit("go")
        await agreed(opened)
        end = await ended(opened)
        assert end.status == "failed"
        assert end.why.startswith("deadlock")
        assert end.ms < 60_000, "it waits for nothing"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to find it in")
async def test_a_worker_that_is_killed_fails_the_run_and_its_agents_finish(tmp_path: Path) -> None:
    script = META + "return await agent('do it');\n"
    async with desk(
        tmp_path, [launch(script), *OK, launch(call="w2", resumeFromRunId="RUN")]
    ) as opened:
        opened.server.tasks["do it"] = list(read_script("wait: gate\nsay: done after all"))
        opened.session.submit("go")
        await agreed(opened)
        await opened.server.reached("gate")
        os.kill(worker(), signal.SIGKILL)
        end = await ended(opened)
        assert end.status == "failed"
        assert "signal 9" in end.why
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        run = part.opened().runs.runs[end.run]
        assert not run.gone.is_set(), "its agent works on"
        opened.server.release("gate")
        await run.gone.wait()
        assert (run.calls[0].state, run.calls[0].value) == ("done", "done after all")
        journal = (run.order.folder / "journal.jsonl").read_text(encoding="utf-8")
        assert "done after all" in journal
        assert len(notices(opened)) == 1


async def test_a_spent_budget_lets_requests_end_and_is_told_once(tmp_path: Path) -> None:
    script = META + "for (let n = 0; ; n++) await agent(`do it ${n}`);\n"
    async with desk(tmp_path, [launch(script, budget={"tokens": 40}), *OK]) as opened:
        opened.server.tasks["do it"] = list(read_script("\n---\n".join(["say: ok"] * 9)))
        opened.session.submit("go")
        asked = await agreed(opened)
        assert "40 tokens" in str(asked.ask.body)
        end = await ended(opened)
        assert end.status == "failed"
        assert "The budget of the workflow ends is spent: 40 tokens" in end.why
        assert 0 < end.ok < 9
        assert "line 2" in end.why


async def test_a_storm_of_refused_requests_is_waited_out(tmp_path: Path) -> None:
    """For longer than it takes until it is told that they wait."""
    script = (
        META
        + f"""\
const items = Array.from({{length: {STORM}}}, (_, n) => n);
const found = await parallel(items, n => agent(`do it [${{n}}]`));
return found.filter(each => each === 'ok').length;
"""
    )
    async with desk(tmp_path, [launch(script), *["say: ok"] * 4]) as opened:
        refused = "status: 429 retry_after=0.6 body={}"
        for n in range(STORM):
            both = f"{refused}\n---\nsay: ok"
            opened.server.tasks[f"do it [{n}]"] = list(read_script(both))
        opened.session.submit("go")
        await agreed(opened)
        end = await ended(opened)
        assert (end.status, end.result, end.failed) == ("done", str(STORM), 0)
        assert not opened.seen.of(AgentFinished), "no line for an agent"
        states = {c.state for e in opened.seen.of(WorkflowProgressed) for c in e.calls}
        assert "waiting" in states


# What a run comes to an end by, and what its agents are answered; all of it within so many seconds.
SOON = 2.0
TRIED = 90.0  # seconds: one machine is busy for longer than another
ENDS: dict[str, tuple[str, dict[str, str]]] = {
    "deadlock": ("await new Promise(() => {});", {}),
    "dead": ("return await agent('do it');", {"do it": "wait: never\nsay: x"}),
    "budget": ("for (;;) await agent('do it');", {"do it": "\n---\n".join(["say: ok"] * 9)}),
    "storm": (
        f"return await parallel([...Array({STORM}).keys()], n => agent(`do it ${{n}}.`));",
        {
            f"do it {n}.": "status: 429 retry_after=0.05 body={}\n---\nsay: ok"
            for n in range(STORM)
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", ENDS)
async def test_the_notice_of_an_end_is_there_in_two_seconds(tmp_path: Path, how: str) -> None:
    """By the clock, once in some tries: a limit that is waited for would be there each time."""
    took: list[float] = []
    began = time.monotonic()
    while min(took, default=SOON + 1) > SOON and time.monotonic() - began < TRIED:
        took.append(await took_until_told(tmp_path / str(len(took)), how))
    assert took[-1] <= SOON, took


async def took_until_told(folder: Path, how: str) -> float:
    """Seconds from the launch, or from what happened later, to the one notice."""
    body, given = ENDS[how]
    more: dict[str, Any] = {"budget": {"tokens": 40}} if how == "budget" else {}
    folder.mkdir()
    async with desk(folder, [launch(f"{META}{body}\n", **more), *OK]) as opened:
        for words, script in given.items():
            opened.server.tasks[words] = list(read_script(script))
        opened.session.submit("go")
        await agreed(opened)
        began = time.time()
        if how == "dead":
            await opened.server.reached("never")
            began = time.time()
            os.kill(worker(), signal.SIGKILL)
        await ended(opened)
        (told,) = (
            each.timestamp
            for each in opened.seen.envelopes
            if isinstance(each.event, UserMessage) and notice_in(each.event)
        )
    return told - began


async def test_stop_by_the_model_and_output_of_a_task(tmp_path: Path) -> None:
    script = META + "log('begun'); return await agent('do it');\n"
    async with desk(tmp_path, [launch(script), "say: launched"]) as opened:
        opened.server.tasks["do it"] = list(read_script("wait: never\nsay: x"))
        opened.session.submit("go")
        await agreed(opened)
        await opened.server.reached("never")
        await opened.session.idle()
        jobs = opened.session.jobs_of("main")
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        (view,) = part.book.views()
        job = jobs.find(view.task)
        assert job is not None
        assert "0 of 1 calls have ended, 1 at work" in job.output()
        assert "begun" in job.output()
        said = await opened.session.stop_task(view.task)
        assert said == "stopped"
        end = await opened.seen.until(WorkflowEnded)
        assert (end.status, end.why) == ("stopped", "Stopped by the person.")
        await eventually(lambda: len(notices(opened)) == 1)


READS = 'call: Read {"file_path": "nowhere.txt"}'
CURL = 'call: Bash {"command": "curl http://127.0.0.1:1"}'


@pytest.mark.parametrize(
    ("options", "given", "kind"),
    [
        ("maxTurns: 1", [READS, "say: never"], "limit"),
        ("timeoutMinutes: 0.003", ["wait: never\nsay: x"], "timeout"),
        ("", ["status: 400 body={}"], "model"),
        ("", [CURL, CURL.replace("1:1", "1:2")], "refused"),
    ],
)
async def test_a_call_fails_with_its_kind_and_the_run_goes_on(
    tmp_path: Path, options: str, given: list[str], kind: str
) -> None:
    script = META + (
        f"const end = await agent('do it', {{detail: true, {options}}});\n"
        "return [end.ok, end.value, end.error.kind, typeof end.agentId];\n"
    )
    async with desk(tmp_path, [launch(script), *OK]) as opened:
        opened.server.tasks["do it"] = list(read_script("\n---\n".join(given)))
        opened.session.submit("go")
        await agreed(opened)
        if kind == "refused":
            for count in (2, 3):
                opened.answer(await opened.asked(count), "no")
        end = await ended(opened)
        assert end.status == "done", end.why
        assert json.loads(end.result) == [False, None, kind, "string"]


async def test_a_call_that_a_person_stops_is_null_and_the_others_go_on(tmp_path: Path) -> None:
    script = META + "return await parallel(['a', 'b'], each => agent(`do it ${each}`));\n"
    async with desk(tmp_path, [launch(script), *OK]) as opened:
        opened.server.tasks["do it a"] = list(read_script("wait: never\nsay: x"))
        opened.server.tasks["do it b"] = list(read_script("say: done"))
        opened.session.submit("go")
        await agreed(opened)
        await opened.server.reached("never")
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        (view,) = part.book.views()
        assert "was stopped" in await part.book.stop_call(view.id, 1)
        end = await ended(opened)
        assert json.loads(end.result) == [None, "done"]
        assert "do it a (stopped: The person stopped it." in notices(opened)[0]


async def test_who_looks_at_an_agent_speaks_with_it_and_ends_it(tmp_path: Path) -> None:
    script = META + "return await parallel(['a', 'b'], each => agent(`do it ${each}`));\n"
    async with desk(tmp_path, [launch(script), *OK]) as opened:
        held = "wait: gate\nsay: first\n---\nsay: with that"
        opened.server.tasks["do it a"] = list(read_script(held))
        opened.server.tasks["do it b"] = list(read_script("wait: never\nsay: x"))
        opened.session.submit("go")
        await agreed(opened)
        await opened.server.reached("gate")
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        (view,) = part.book.views()
        first = part.book.call(view.id, 1)
        assert first is not None
        opened.session.submit("mind the gap", agent=first.agent_path)
        opened.server.release("gate")
        await opened.server.reached("never")
        second = part.book.call(view.id, 2)
        assert second is not None
        await eventually(lambda: part.book.calls(view.id)[0].state == "done")
        await opened.session.stop_agent(second.agent_path)
        end = await ended(opened)
        assert json.loads(end.result) == ["with that", None]
        assert "mind the gap" in json.dumps(opened.server.bodies)
        journal = (view.folder / "journal.jsonl").read_text(encoding="utf-8")
        assert journal.count('"repeats":false') == 1, "what it said then is not replayed"
