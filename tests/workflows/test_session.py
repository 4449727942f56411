"""A workflow in a whole session: the tool, the dialog, the worker, real agents, the notice."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.commands.outcome import Page
from gatewright.agent.extensions.workflows.run_extension import WorkflowRuns
from gatewright.agent.record.events import (
    AgentStarted,
    Asked,
    UserMessage,
    WorkflowEnded,
    WorkflowStarted,
)
from gatewright.agent.workflows.runs.past import hash_of, read_past, read_run
from gatewright.tools.blocks import Code, Table
from gatewright.tools.protocol import TextContent, ToolCall
from tests.agents.test_going_on import cut_off, put_back
from tests.fakes.hostile_git import IDENTITY
from tests.fakes.scripted_provider import read_script
from tests.fakes.waiting import eventually
from tests.permissions.composed import ID, Desk, desk

SCRIPT = """\
export const meta = {name: 'look', description: 'Look at two things.', phases: [{title: 'Look'}]};
phase('Look');
const found = await parallel(['a', 'b'], item => agent(`look at ${item}`, {label: item}));
log('found', found.length);
return {found};
"""
OK = ["say: ok"] * 6


def launch(script: str = "", call: str = "w1", **more: Any) -> str:
    input = {"script": script, **more} if script else more
    return f"call[{call}]: Workflow {json.dumps(input)}"


def one(options: str, rest: str = "") -> str:
    """A script of one call."""
    meta = "export const meta = {name: 'one', description: 'One call.'};"
    return f"{meta}\nconst said = await agent('do it', {options});\n{rest}\nreturn said;\n"


def answers(opened: Desk, *given: str) -> None:
    """What agents of a workflow say, whatever the main one is told meanwhile."""
    for begins in ("look at", "do it", "The answer that counts"):
        opened.server.tasks[begins] = list(read_script("\n---\n".join(given)))


def notices(opened: Desk) -> list[str]:
    return [text for each in opened.seen.of(UserMessage) if (text := notice_in(each))]


def notice_in(event: UserMessage) -> str:
    """The notice of an end that it is; or empty."""
    texts = [part.text for part in event.content if isinstance(part, TextContent)]
    told = (text for text in texts if event.hidden and text.startswith("Workflow "))
    return next(told, "")


async def agreed(opened: Desk, choice: str = "once") -> Asked:
    asked = await opened.asked()
    opened.answer(asked, choice)
    return asked


async def through(opened: Desk) -> WorkflowEnded:
    """A turn that launches one, to its end and the notice of it."""
    opened.session.submit("use a workflow")
    await agreed(opened)
    end = await opened.seen.until(WorkflowEnded)
    await opened.session.idle()
    return end


async def test_a_script_has_agents_work_and_its_end_is_told_once(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(SCRIPT, title="Two looks"), *OK]) as opened:
        answers(opened, "say: seen", "say: seen")
        opened.session.submit("use a workflow")
        ask = (await agreed(opened)).ask
        labels = [option.label for option in ask.options]
        assert labels == ["Yes", "Yes, don't ask again this session", "No"]
        body = str(ask.body)
        assert "Two looks" in body
        assert "mode acceptEdits" in body
        last = ask.body[-1]
        assert isinstance(last, Code)
        assert last.text == SCRIPT
        result = json.loads(await opened.finished("w1"))
        assert (result["status"], result["taskType"]) == ("async_launched", "local_workflow")
        end = await opened.seen.until(WorkflowEnded)
        assert (end.status, end.ok, end.failed, end.why) == ("done", 2, 0, "")
        assert json.loads(end.result) == {"found": ["seen", "seen"]}
        await opened.session.idle()
        (notice,) = notices(opened)
        assert "2 ok, 0 failed, 0 replayed" in notice
        folder = Path(result["scriptPath"]).parent
        assert (folder / "script.js").read_text(encoding="utf-8") == SCRIPT
        assert read_run(folder).script_hash == hash_of(folder / "script.js")
        assert len(list((folder / "agents").iterdir())) == 2
        (started,) = opened.seen.of(WorkflowStarted)
        assert started.run == result["runId"] == result["taskId"]
        assert not opened.seen.of(AgentStarted), "the session's file has no line for an agent"
        costs = await opened.session.run_command("/cost")
        assert isinstance(costs, Page)
        table = costs.fallback.blocks[0]
        assert isinstance(table, Table)
        assert [row[0] for row in table.rows if "workflow" in row[0]] == ["workflow look (2)"]
        assert end.usage.input > 0


async def test_consent_is_for_the_session_and_no_rule(tmp_path: Path) -> None:
    script = [launch(one("{}")), "say: ok", launch(one("{}"), call="w2"), *OK]
    async with desk(tmp_path, script) as opened:
        answers(opened, "say: a", "say: b")
        opened.session.submit("one")
        await agreed(opened, "always")
        await opened.seen.until(WorkflowEnded)
        await opened.session.idle()
        if len(opened.seen.of(WorkflowStarted)) == 1:
            opened.session.submit("two")
        await opened.seen.until(WorkflowEnded, count=2)
        assert len(opened.seen.of(Asked)) == 1
    settings = list((tmp_path / "project").rglob("settings*.json"))
    settings += list((tmp_path / "home").rglob("settings*.json"))
    assert not any("Workflow" in path.read_text(encoding="utf-8") for path in settings)


async def test_a_no_launches_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(SCRIPT), *OK]) as opened:
        opened.session.submit("go")
        await agreed(opened, "no")
        await opened.ended()
        assert not opened.seen.of(WorkflowStarted)


@pytest.mark.parametrize("mode", ["plan", "dontAsk"])
async def test_where_it_may_not_start_nobody_is_asked(tmp_path: Path, mode: str) -> None:
    async with desk(tmp_path, [launch(SCRIPT), *OK], mode=mode) as opened:
        opened.session.submit("go")
        assert "Not run" in await opened.finished("w1")
        await opened.ended()
        assert not opened.seen.of(Asked)


async def test_where_nobody_is_there_it_starts_with_a_budget(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(one("{}")), *OK], interactive=False) as opened:
        answers(opened, "say: done")
        opened.session.submit("go")
        await opened.seen.until(WorkflowEnded)
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        assert part.book.views()[0].budget == "$10.00"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("const x = ;", "Line 1"),
        (one("{}").replace("return", "import fs from 'fs';"), "import"),
        ("export const meta = {name: 'x', description: 'y', args: {type: 'object', "
         "required: ['q']}};\nreturn 1;", "args do not fit"),
    ],
)  # fmt: skip
async def test_what_cannot_run_is_said_and_nobody_is_asked(
    tmp_path: Path, script: str, why: str
) -> None:
    async with desk(tmp_path, [launch(script), *OK]) as opened:
        opened.session.submit("go")
        assert why in await opened.finished("w1")
        assert not opened.seen.of(Asked)


async def test_a_call_without_input_says_how_scripts_are_written(tmp_path: Path) -> None:
    """Where the short form was told, as in print mode, nothing is lost by it."""
    async with desk(tmp_path, [launch(), *OK], mode="default") as opened:
        opened.session.submit("go")
        said = await opened.finished("w1")
        assert "export const meta" in said
        assert "pipeline(items" in said
        assert "- deep-research: " in said
        assert not opened.seen.of(Asked)


CLOSED = (
    "{schema: {type: 'object', properties: {n: {type: 'integer'}}, required: ['n'], "
    "additionalProperties: false}}"
)
OPEN = "{schema: {type: 'object', properties: {n: {type: 'integer'}}, required: ['n']}}"
SHAPED = "The answer that counts"


async def test_an_answer_that_the_api_holds_to_its_schema(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(one(CLOSED)), *OK]) as opened:
        answers(opened, "say: no idea", 'say: {"n": 1}')
        end = await through(opened)
        assert json.loads(end.result) == {"n": 1}
        mine = [body for body in opened.server.bodies if SHAPED in json.dumps(body)]
        assert len(mine) == 2
        assert "That is no valid answer" in json.dumps(mine[1])
        assert "output_config" in mine[0] or "output_format" in mine[0]


async def test_an_answer_through_the_tool_ends_the_work(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(one(OPEN)), *OK]) as opened:
        bad, good = ('call: StructuredOutput {"n": "x"}', 'call: StructuredOutput {"n": 2}')
        answers(opened, bad, good)
        end = await through(opened)
        assert json.loads(end.result) == {"n": 2}
        mine = [body for body in opened.server.bodies if SHAPED in json.dumps(body)]
        assert len(mine) == 2, "nobody is asked again once the answer is there"
        assert "StructuredOutput" in [tool["name"] for tool in mine[0]["tools"]]
        assert "The answer is not valid" in json.dumps(mine[1])


async def test_answers_that_never_fit_end_the_call_with_its_kind(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(one(OPEN)), *OK]) as opened:
        answers(opened, *["say: no"] * 5)
        end = await through(opened)
        assert (end.status, end.failed) == ("done", 1)
        assert "schema: Its answer does not fit the schema" in notices(opened)[0]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("{agentType: 'nobody'}", "nobody"),
        ("{tools: ['Nothing']}", "No tool of general-purpose is called Nothing"),
        ("{mode: 'sometimes'}", "There is no mode 'sometimes'"),
        ("{effort: 'extreme'}", "effort is one of"),
        ("{schema: {type: 'integer', minimum: 3, maximum: 2}}", "minimum 3 is more than"),
    ],
)
async def test_options_that_cannot_be_throw(tmp_path: Path, options: str, why: str) -> None:
    async with desk(tmp_path, [launch(one(options)), *OK]) as opened:
        end = await through(opened)
        assert end.status == "failed"
        assert why in end.why
        assert "line 2" in end.why


async def test_an_agent_has_the_tools_that_were_named(tmp_path: Path) -> None:
    options = "{tools: ['Read', 'Grep'], disallowedTools: ['Grep']}"
    async with desk(tmp_path, [launch(one(options)), *OK]) as opened:
        answers(opened, 'call[x1]: Bash {"command": "ls"}', "say: done")
        await through(opened)
        mine = next(b for b in opened.server.bodies if "do it" in json.dumps(b["messages"][0]))
        assert [tool["name"] for tool in mine["tools"]] == ["Read"]
        assert "not among what may be used here" in json.dumps(opened.server.bodies)


async def test_questions_of_agents_name_run_phase_and_label(tmp_path: Path) -> None:
    options = "{label: 'curl', phase: 'Fetch'}"
    async with desk(tmp_path, [launch(one(options)), *OK]) as opened:
        answers(opened, 'call[x1]: Bash {"command": "curl http://127.0.0.1:1"}', "say: done")
        opened.session.submit("go")
        await agreed(opened)
        asked = await opened.asked(2)
        assert asked.ask.reason.startswith("one · Fetch · curl: ")
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        view = part.book.views()[0]
        assert (view.status, view.asks) == ("paused", 1)
        opened.answer(asked, "no")
        await opened.seen.until(WorkflowEnded)


async def test_agents_edit_unasked_and_commit_to_nothing_else(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(one("{}")), *OK]) as opened:
        answers(opened, 'call[x1]: Write {"file_path": "made.txt", "content": "x"}', "say: done")
        end = await through(opened)
        assert end.status == "done"
        assert (opened.project / "made.txt").read_text(encoding="utf-8") == "x"
        assert len(opened.seen.of(Asked)) == 1, "the launch alone"


AGAIN: Mapping[str, Any] = {"resume": ID}


async def test_a_run_that_was_cut_off_goes_on_in_the_next_process(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(SCRIPT), *OK]) as opened:
        opened.server.tasks["look at a"] = list(read_script("say: seen a"))
        opened.server.tasks["look at b"] = list(read_script("wait: never\nsay: x"))
        opened.session.submit("go")
        await agreed(opened)
        await opened.server.reached("never")
        run = json.loads(await opened.finished("w1"))["runId"]
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        await opened.seen.until(WorkflowStarted)
        await eventually(lambda: part.book.views()[0].done == 1)
        again = json.dumps({"resumeFromRunId": run})
        failed = await opened.session.call(ToolCall("w9", "Workflow", json.loads(again)))
        assert "goes on in another process" in str(failed.content)
        folder = part.book.views()[0].folder
    assert read_past(folder).status == "interrupted"
    script = [launch(resumeFromRunId=run), *OK]
    async with desk(tmp_path, script, options=AGAIN) as opened:
        opened.server.tasks["look at b"] = list(read_script("say: seen b"))
        opened.session.submit("go on")
        asked = await opened.asked(2)
        opened.answer(asked, "once")
        assert "1 replayed, 1 go on, 0 run again, 0 new, about" in str(asked.ask.body)
        assert "- b: goes on: it was cut off" in str(asked.ask.body)
        end = await opened.seen.until(WorkflowEnded, where=lambda e: e.status == "done")
        assert json.loads(end.result) == {"found": ["seen a", "seen b"]}
        assert (end.ok, end.replayed) == (1, 1)
        mine = [b for b in opened.server.bodies if "look at b" in json.dumps(b["messages"][0])]
        assert "Go on where you were stopped" in json.dumps(mine[-1])


async def test_a_run_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(resumeFromRunId="wf_0123456789ab"), *OK]) as opened:
        opened.session.submit("go on")
        assert "There is no run wf_0123456789ab" in await opened.finished("w1")
        assert not opened.seen.of(Asked)


async def test_off_there_is_no_tool(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(SCRIPT), *OK], own={"disableWorkflows": True}) as opened:
        opened.session.submit("go")
        assert "Workflow" in await opened.finished("w1")
        assert not opened.seen.of(WorkflowStarted)
        assert "Workflow" not in [tool["name"] for tool in opened.server.bodies[0]["tools"]]


async def test_an_agent_may_start_another_which_counts_in_the_run(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(one("{}")), *OK]) as opened:
        call = json.dumps({"description": "sub", "prompt": "deeper still"})
        answers(opened, f"call[x1]: Agent {call}", "say: done")
        opened.server.tasks["deeper still"] = list(read_script("say: from below"))
        end = await through(opened)
        assert (end.status, end.result) == ("done", "done")
        started = [event for event in opened.seen.of(AgentStarted) if event.prompt]
        assert "from below" in json.dumps(opened.server.bodies)
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        run = part.opened().runs.runs[end.run]
        assert run.money.agents == 2
        asked = sum("do it" in json.dumps(b["messages"][0]) for b in opened.server.bodies)
        below = sum("deeper still" in json.dumps(b["messages"][0]) for b in opened.server.bodies)
        assert (asked, below) == (2, 1)
        assert end.usage.output == 5 * 3, "what it started counts for it"
        assert not [event for event in started if event.prompt == "do it"]


async def test_no_agent_launches_a_workflow(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(one("{}")), *OK]) as opened:
        answers(opened, launch(SCRIPT, call="x1"), "say: done")
        end = await through(opened)
        assert end.status == "done"
        assert len(opened.seen.of(WorkflowStarted)) == 1
        mine = [b for b in opened.server.bodies if "do it" in json.dumps(b["messages"][0])]
        assert "Workflow" not in [tool["name"] for tool in mine[0]["tools"]]
        assert "Not run" in json.dumps(mine[-1])


async def test_what_an_ended_agent_said_can_be_looked_at(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(one("{}")), *OK]) as opened:
        answers(opened, "say: look at me")
        end = await through(opened)
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        view = part.book.call(end.run, 1)
        assert view is not None
        assert view.prompt == "do it"
        assert view.result == "look at me"
        assert view.transcript is not None
        events = await opened.session.watch(f"main/{view.now.agent}")
        assert "look at me" in str([one.event async for one in events])


def committed(project: Path) -> None:
    project.mkdir()
    (project / "a.txt").write_text("a\n", encoding="utf-8")
    for line in ("init -q -b main", "add .", "commit -qm first"):
        env = {**os.environ, **IDENTITY}
        subprocess.run(["git", *line.split()], cwd=project, env=env, check=True)


async def test_a_work_tree_of_its_own_stays_with_what_was_changed(tmp_path: Path) -> None:
    committed(tmp_path / "project")
    script = one("{isolation: 'worktree', detail: true}", "return said.worktree;")
    async with desk(tmp_path, [launch(script), *OK]) as opened:
        answers(opened, 'call[x1]: Write {"file_path": "b.txt", "content": "b"}', "say: done")
        end = await through(opened)
        assert end.status == "done", end.why
        assert (Path(end.result) / "b.txt").read_text(encoding="utf-8") == "b"
        assert not (opened.project / "b.txt").exists()


async def test_what_a_killed_process_left_is_told_once(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(SCRIPT), *OK]) as opened:
        opened.server.tasks["look at"] = list(read_script("wait: never\nsay: x"))
        opened.session.submit("go")
        await agreed(opened)
        await opened.server.reached("never")
        await opened.seen.until(WorkflowStarted)
        cut = cut_off(tmp_path)
    put_back(tmp_path, cut)
    async with desk(tmp_path, OK, options=AGAIN) as opened:
        end = await opened.seen.until(WorkflowEnded)
        assert (end.status, end.name) == ("interrupted", "look")
        opened.session.submit("so?")
        await opened.session.idle()
        (notice,) = notices(opened)
        assert "resumeFromRunId" in notice
    async with desk(tmp_path, OK, options=AGAIN) as opened:
        opened.session.submit("and?")
        await opened.session.idle()
        assert len(opened.seen.of(WorkflowEnded)) == 1, "and not again"


async def test_one_begins_and_the_others_read_the_cache_it_wrote(tmp_path: Path) -> None:
    script = SCRIPT.replace("['a', 'b']", "['a', 'b', 'c']")
    async with desk(tmp_path, [launch(script), *OK]) as opened:
        answers(opened, "wait: gate\nsay: first", "say: second", "say: third")
        opened.session.submit("go")
        await agreed(opened)
        await opened.server.reached("gate")
        part = opened.session.part(WorkflowRuns)
        assert part is not None
        (view,) = part.book.views()
        states = [call.state for call in part.book.calls(view.id)]
        assert states[1:] == ["held", "held"]
        opened.server.release("gate")
        end = await opened.seen.until(WorkflowEnded)
        assert json.loads(end.result)["found"] == ["first", "second", "third"]
