"""Print mode with work in the background: what it waits for, how long, what clients are told."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.frontends import background, plain
from gatewright.agent.frontends.sdk import stream
from gatewright.agent.launch.options import LaunchOptions
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import Progress, ToolCall, ToolContext, ToolResult
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import House, house
from tests.fakes.job import FakeJob
from tests.fakes.waiting import PATIENCE, eventually
from tests.frontends.wire import Wire
from tests.permissions.composed import desk

GO = LaunchOptions(prompt="go", print_mode=True)
TWO = "say: It works.\n---\nsay: It is done.\n"


class AgentJob(FakeJob):
    kind = "agent"


class WorkflowJob(FakeJob):
    """It says something else at each of its first looks, and then no more."""

    kind = "workflow"
    looks = 0

    def progress(self) -> Progress:
        self.looks += 1
        said = f"agent {min(self.looks, 20)}\n"
        return Progress(said, len(said), self.seconds)


class Printing:
    """A run of print mode over a session that has a job in the background."""

    def __init__(self, made: House, job: FakeJob, options: LaunchOptions = GO) -> None:
        self.session, self.job = made.session, job
        self.out, self.err = io.StringIO(), io.StringIO()
        front_end = plain.run if options.output_format == "text" else stream.run
        made.session.jobs_of(MAIN).adopt(job)
        run = front_end(made.session, options, self.out, self.err)
        self.task = asyncio.create_task(run)
        self.made = made

    async def ends(self) -> None:
        """The job, behind the first answer."""
        await eventually(lambda: len(self.made.provider.requests) == 1 and not self.session.busy)
        assert not self.task.done()
        self.job.ended.set()

    async def code(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.task


async def test_an_agent_is_waited_for_and_the_last_answer_counts() -> None:
    async with house(TWO) as made:
        run = Printing(made, AgentJob("look around"))
        await run.ends()
        assert (await run.code(), run.out.getvalue()) == (0, "It is done.\n")
        assert run.err.getvalue() == ""


async def test_as_json_the_last_result_is_the_one() -> None:
    async with house(TWO) as made:
        run = Printing(made, AgentJob(), LaunchOptions(prompt="go", output_format="json"))
        await run.ends()
        assert await run.code() == 0
        assert json.loads(run.out.getvalue())["result"] == "It is done."


async def test_with_a_schema_the_last_answer_is_judged() -> None:
    schema = '{"type": "object", "required": ["n"]}'
    async with house('say: {"n": 1}\n---\nsay: {"n": 2}\n') as made:
        run = Printing(made, AgentJob(), LaunchOptions(prompt="go", json_schema=schema))
        await run.ends()
        assert (await run.code(), run.out.getvalue()) == (0, '{"n":2}\n')


@pytest.mark.parametrize("kind", [AgentJob, FakeJob])
async def test_what_takes_too_long_is_stopped_and_listed(
    monkeypatch: pytest.MonkeyPatch, kind: type[FakeJob]
) -> None:
    name = "USUAL" if kind is AgentJob else "SHORT"
    monkeypatch.setattr(background, name, 0.05)
    async with house(TWO) as made:
        run = Printing(made, kind("look around"))
        assert (await run.code(), run.out.getvalue()) == (0, "It works.\n")
        assert run.job.stopped
        assert len(made.provider.requests) == 1, "nobody is told of it any more"
        assert "Stopped with the last answer:\n  " in run.err.getvalue()
        assert "look around" in run.err.getvalue()


async def test_a_workflow_is_waited_for_as_long_as_it_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "USUAL", 0.05)
    async with house(TWO) as made:
        run = Printing(made, WorkflowJob("review"))
        assert (await run.code(), run.out.getvalue()) == (0, "It works.\n")
        assert run.job.stopped, "once it stood still"
        assert isinstance(run.job, WorkflowJob) and run.job.looks > 20


async def test_nothing_in_the_background_is_not_waited_for() -> None:
    async with house(TWO) as made:
        out = io.StringIO()
        assert await plain.run(made.session, GO, out, io.StringIO()) == 0
        assert out.getvalue() == "It works.\n"


@pytest.mark.parametrize(
    ("named", "seconds"),
    [("", 7.0), ("1500", 1.5), ("0", 0.0), ("soon", 7.0), ("9" * 40, 2147483.647)],
)
async def test_the_clients_variable_says_how_long(
    tmp_path: Path, named: str, seconds: float
) -> None:
    env = {background.SDK_ENV: named} if named else {}
    async with desk(tmp_path, [], own={"printWaitSeconds": 7}, env=env) as made:
        assert background.wait_seconds(made.session) == seconds


STATE = {"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}
SHOWN = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "true", **STATE}


def told(wire: Wire) -> list[str]:
    """States and results, in order."""
    return [
        line["state"] if line["type"] == "system" else "result"
        for line in wire.lines
        if line.get("subtype") == "session_state_changed" or line["type"] == "result"
    ]


async def talking(made: House, env: dict[str, str]) -> Wire:
    wire = Wire(made.session)
    wire.duplex.tells_state(env)
    return wire


async def test_idle_is_told_once_nothing_is_owed() -> None:
    async with house("say: One.\n---\nsay: Two.\n---\nsay: Three.\n") as made:
        wire = await talking(made, STATE)
        wire.say("first")
        wire.say("second")
        await wire.until("result", 2)
        await eventually(lambda: told(wire)[-1] == "idle")
        assert told(wire) == ["running", "result", "result", "idle"], "not between the two"
        wire.say("third")
        assert await wire.code() == 0
        states = [line for line in wire.lines if line.get("subtype") == "session_state_changed"]
        assert all(line["sdk_host_only"] is True for line in states)


async def test_it_is_not_idle_while_an_agent_works() -> None:
    async with house(TWO) as made:
        wire = await talking(made, SHOWN)
        job = AgentJob()
        made.session.jobs_of(MAIN).adopt(job)
        wire.say("go")
        await wire.until("result")
        await eventually(lambda: not made.session.busy)
        assert told(wire) == ["running", "result"]
        job.ended.set()
        await wire.until("result", 2)
        await eventually(lambda: told(wire)[-1] == "idle")
        assert told(wire) == ["running", "result", "result", "idle"]
        assert not any("sdk_host_only" in line for line in wire.lines)
        assert await wire.code() == 0


async def test_a_client_that_closes_its_end_gets_the_answer_to_its_agents() -> None:
    async with house(TWO) as made:
        wire = Wire(made.session)
        job = AgentJob()
        made.session.jobs_of(MAIN).adopt(job)
        wire.say("go")
        await wire.until("result")
        wire.end()
        job.ended.set()
        assert await wire.code() == 0
        results: list[Any] = [line["result"] for line in wire.lines if line["type"] == "result"]
        assert results == ["It works.", "It is done."]


class Asking(FakeExecutor):
    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        ask = Ask(
            kind="permission", title="Run make", body=(), options=(Option("once", "Yes", "y"),)
        )
        return ToolResult.text(repr(await ctx.ask(ask)))


async def test_a_question_to_the_client_requires_its_action() -> None:
    async with house('call: Bash {"command": "make"}\n---\nsay: Done.', executor=Asking()) as made:
        wire = await talking(made, STATE)
        wire.say("go")
        request = await wire.until("control_request")
        assert told(wire) == ["running", "requires_action"]
        wire.verdict(request, behavior="allow", updatedInput={})
        await eventually(lambda: told(wire)[-1] == "idle")
        assert told(wire)[2:] == ["running", "result", "idle"]
        assert await wire.code() == 0


async def test_nobody_is_told_who_does_not_ask() -> None:
    async with house(TWO) as made:
        wire = await talking(made, {"CLAUDE_CODE_SDK_READS_SESSION_STATE": "0"})
        wire.say("go")
        assert await wire.code() == 0
        assert told(wire) == ["result"]
