"""Another program works as an agent of ours: reads, changes, runs, plans and reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    Asked,
    ToolFinished,
    ToolStarted,
)
from gatewright.agent.transcript.reader import read_transcript
from gatewright.tools.blocks import Diff, Todo
from tests.agents.test_agent_tool import agent
from tests.agents.test_going_on import files, message
from tests.foreign.stories import ON, Step, confined, defined, end_of, reported, story
from tests.foreign.test_hostile_agent import permission
from tests.permissions.composed import desk
from tests.worktrees.ground import Checkout

pytestmark = confined
COMMAND = "cat a.txt && grep zebra a.txt"
PLAN = [{"content": "read it", "status": "completed"}, {"content": "change it", "status": "x"}]


async def test_it_reads_changes_runs_plans_and_reports(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    path = str(project / "a.txt")
    steps: list[Step] = [
        {"update": {"sessionUpdate": "plan", "entries": PLAN}},
        {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}},
        {"update": {"sessionUpdate": "agent_thought_chunk",
                    "content": {"type": "text", "text": "hm"}}},
        {"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Looking around",
                    "kind": "search", "status": "pending"}},
        {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t",
                    "status": "completed"}},
        {"ask": ["fs/read_text_file", {"path": path}]},
        {"ask": ["fs/read_text_file", {"path": path, "line": 2, "limit": 1}]},
        {"ask": ["fs/write_text_file", {"path": path, "content": "one\n2\n"}]},
        {"ask": ["terminal/create", {"command": COMMAND, "cwd": str(project)}]},
        {"ask": ["terminal/wait_for_exit", {"terminalId": "$"}]},
        {"ask": ["terminal/output", {"terminalId": "$", "outputByteLimit": 100}]},
        {"ask": ["terminal/release", {"terminalId": "$"}]},
        {"ask": ["terminal/output", {"terminalId": "$"}]},
        {"report": "answers"},
    ]  # fmt: skip
    async with story(tmp_path, [steps], mode="acceptEdits") as opened:
        end = await end_of(opened)
        assert (end.status, end.refused, end.tools) == ("completed", 0, 6)
        whole, part, wrote, made, exited, output, released, gone = reported(end)
        assert (whole, part) == ({"content": "one\ntwo\n"}, {"content": "two\n"})
        assert wrote == {} and made["terminalId"] and released == {} and "error" in gone
        assert exited == {"exitCode": 1, "signal": None}
        assert output["output"] == "one\n2" and output["exitStatus"] == exited
        (started,) = opened.seen.of(AgentStarted)
        assert (started.kind, started.prompt) == ("other", "do it")
        assert opened.seen.of(AgentProgressed)
        told = await opened.finished("c1")
        assert told.endswith(f"agentId: {end.child.rpartition('/')[2]}")
        (file,) = files(tmp_path)
    events = [envelope.event for envelope in read_transcript(file).branch]
    calls = [(event.verb, event.target) for event in events if isinstance(event, ToolStarted)]
    assert calls == [
        ("Plan", "1 of 2 done"),
        ("Search", "Looking around"),
        ("Read", "a.txt"),
        ("Read", "a.txt:2"),
        ("Write", "a.txt"),
        ("Run", COMMAND),
    ]
    ends = [event for event in events if isinstance(event, ToolFinished)]
    shown = [block for event in ends for block in event.view]
    assert any(isinstance(block, Todo) for block in shown)
    assert any(isinstance(block, Diff) and block.added == 1 for block in shown)


async def test_in_a_work_tree_of_its_own_it_writes_by_itself(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    before = at.state()
    steps: list[Step] = [{"write": "new.txt"}, {"write": str(at.root / "x.txt")}, {"say": "done"}]
    async with story(tmp_path, [steps], more="isolation: worktree\n") as opened:
        end = await end_of(opened)
        assert end.status == "completed" and end.report == "done"
        assert end.worktree and (Path(end.worktree) / "new.txt").read_text(encoding="utf-8") == "x"
        assert not (at.root / "x.txt").exists()
    assert at.state() == before


@pytest.mark.parametrize("more", ["permissionMode: plan\n", "tools: Read, Bash\n"])
async def test_who_may_not_write_has_a_process_that_cannot(tmp_path: Path, more: str) -> None:
    Checkout(tmp_path)
    steps: list[Step] = [{"write": "new.txt"}, {"report": "answers"}]
    async with story(tmp_path, [steps], more=f"isolation: worktree\n{more}") as opened:
        assert reported(await end_of(opened)) == ["cannot: Read-only file system"]


async def test_what_it_says_it_used_counts_and_ends_it(tmp_path: Path) -> None:
    def used(dollars: float) -> Step:
        cost = {"amount": dollars, "currency": "USD"}
        update = {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost}
        return {"update": update}

    steps: list[Step] = [{"say": "so far"}, used(0.25), used(2.0), {"until": 1}]
    async with story(tmp_path, [steps], more="maxBudgetUsd: 1\n") as opened:
        end = await end_of(opened)
        assert (end.status, end.report, end.cost) == ("budget_exhausted", "so far", 2.0)
        assert opened.session.spent.cost >= 2.0


async def test_it_has_what_its_definition_opens(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "state").mkdir(parents=True)
    (home / "other").mkdir()
    steps: list[Step] = [
        {"write": str(home / "state/x")},
        {"write": str(home / "other/x")},
        {"env": "ITS_KEY"},
        {"report": "answers"},
    ]
    opens = ", write: [~/state], env: {ITS_KEY: 'a ${MY_API_KEY}'}"
    async with story(tmp_path, [steps], opens=opens, env={"MY_API_KEY": "secret"}) as opened:
        assert reported(await end_of(opened)) == [
            "written", "cannot: Read-only file system", "a secret"
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("opens", "told"),
    [
        (", env: {KEY: '${NO_SUCH_NAME}'}", "KEY needs the variable NO_SUCH_NAME"),
        (", write: [~/not-there]", "write in ~/not-there, which is no directory"),
        (", write: [~/.ssh]", "write in ~/.ssh, which no sandbox opens"),
    ],
)
async def test_what_it_lacks_is_said(tmp_path: Path, opens: str, told: str) -> None:
    (tmp_path / "home/.ssh").mkdir(parents=True)
    async with story(tmp_path, [[{"say": "x"}]], opens=opens) as opened:
        end = await end_of(opened)
        assert (end.status, end.report) == ("failed", "")
        assert told in end.why


async def test_it_is_told_its_definition_then_its_task(tmp_path: Path) -> None:
    async with story(tmp_path, [[{"report": "told"}]]) as opened:
        hello, place, (opening, task) = reported(await end_of(opened))
        assert hello["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": True}
        assert place == {"cwd": str(opened.project), "mcpServers": []}
        assert opening.startswith("You work for us.") and "How agents work here" in opening
        assert task == "do it"


async def test_a_refusal_by_the_person_is_as_for_any_agent(tmp_path: Path) -> None:
    """The second no in one run stops it."""
    steps: list[Step] = [
        permission(kind="edit", locations=[{"path": "a"}]),
        permission(kind="edit", locations=[{"path": "b"}]),
        {"until": 1},
    ]
    async with story(tmp_path, [steps]) as opened:
        for count in (1, 2):
            asked: Asked = await opened.asked(count)
            opened.answer(asked, "no")
        end = await end_of(opened)
        assert (end.status, end.refused, end.stopped_by) == ("stopped", 2, "person")


async def test_it_is_stopped_with_its_turn(tmp_path: Path) -> None:
    async with story(tmp_path, [[{"say": "working"}, {"until": 1}]]) as opened:
        await opened.seen.until(AgentProgressed, where=lambda event: event.phase == "running")
        await opened.seen.until(AgentStarted)
        opened.session.interrupt()
        end = await end_of(opened)
        assert end.status == "stopped"


async def test_it_goes_on_with_a_message(tmp_path: Path) -> None:
    """Its process ended with it; a new one is told what was said before."""
    defined(tmp_path, [[{"say": "first answer"}]])
    script = [agent("do it", subagent_type="other", name="bob"), "say: heard"]
    more = [message("bob"), "say: sent", "say: heard"]
    async with desk(tmp_path, [*script, *more], own=dict(ON)) as opened:
        opened.session.submit("go")
        await end_of(opened)
        defined(tmp_path, [[{"report": "told"}]])
        opened.session.submit("again")
        end = await opened.seen.until(AgentFinished, count=2)
        said = reported(end)[-1]
        assert any("You said: first answer" in text for text in said)


async def test_without_a_sandbox_it_is_not_offered(tmp_path: Path) -> None:
    off = {"sandbox": {"enabled": False}}
    async with story(tmp_path, [[{"say": "x"}]], own=off) as opened:
        await opened.ended()
        assert "The sandbox is switched off." in await opened.finished("c1")
        (tool,) = [each for each in opened.server.bodies[0]["tools"] if each["name"] == "Agent"]
        assert "- other:" not in tool["description"]


async def test_it_is_offered_like_any_agent(tmp_path: Path) -> None:
    async with story(tmp_path, [[{"say": "x"}]]) as opened:
        await opened.ended()
        (tool,) = [each for each in opened.server.bodies[0]["tools"] if each["name"] == "Agent"]
        assert "- other: Another program." in tool["description"]
