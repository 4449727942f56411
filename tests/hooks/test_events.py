"""Every event: what its handlers read, what a block of theirs does, and who tells of it.

Events that wait for the system which brings them are named here; that system empties its row.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewright.agent.hooks.configured.book import Terms, book_of
from gatewright.agent.hooks.configured.reading import read
from gatewright.agent.hooks.engine import Engine, EnginePorts
from gatewright.agent.hooks.events import EVENTS
from gatewright.agent.hooks.handlers import Handler, Place
from gatewright.agent.hooks.inputs import Facts, Told, told
from gatewright.agent.hooks.kinds.running import Firing, Output
from gatewright.agent.hooks.listening import Listening, ListeningPorts
from gatewright.agent.record.events import AnyEvent, HookAnswered, HookRan, HookStarted, Noticed
from gatewright.tools import moments as points
from gatewright.tools.access import Access
from gatewright.tools.moments import Moment, Word
from gatewright.tools.protocol import ToolCall, ToolResult
from tests.hooks.scripts import command, hooks, part

CALL = ToolCall("c1", "Edit", {"file_path": "a.py", "old_string": "x"})
FINE = ToolResult.text("fine", data={"filePath": "/p/a.py"})
TOOL = {"tool_name", "tool_input", "tool_use_id"}
COMMON = {
    "session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode", "mode",
    "prompt_id", "effort",
}  # fmt: skip
CHILD = "main/a1"

# Each event with what tells of it, its own fields, and the word that exit 2 comes to.
ROWS: dict[str, tuple[Moment | None, set[str], Word]] = {
    "SessionStart": (points.SessionStarts(source="startup", model="m"), {"source", "model"}, ""),
    "Setup": (points.SetUp(trigger="init"), {"trigger"}, ""),
    "SessionEnd": (points.SessionEnds(reason="other"), {"reason"}, ""),
    "UserPromptSubmit": (points.InputArrives(text="hi"), {"prompt"}, "deny"),
    "UserPromptExpansion": (
        points.CommandExpands(name="x", args="", source="project", text="t"),
        {"expansion_type", "command_name", "command_args", "command_source", "prompt"},
        "deny",
    ),
    "MessageDisplay": (
        points.MessageShown(id="m1", index=0, final=True, delta="hi"),
        {"turn_id", "message_id", "index", "final", "delta"},
        "",
    ),
    "PreToolUse": (points.CallPrepared(call=CALL, access=Access(), mode="default"), TOOL, "deny"),
    "PermissionRequest": (
        points.PersonNeeded(call=CALL, access=Access(), mode="default", suggestions=("Edit",)),
        TOOL | {"permission_suggestions"},
        "",
    ),
    "PermissionDenied": (points.CallDenied(call=CALL, reason="no"), TOOL | {"reason"}, ""),
    "PostToolUse": (
        points.CallEnded(call=CALL, result=FINE, ms=3),
        TOOL | {"tool_response", "duration_ms"},
        "deny",
    ),
    "PostToolUseFailure": (
        points.CallEnded(call=CALL, result=ToolResult.failed("oh"), ms=3),
        TOOL | {"error", "is_interrupt", "duration_ms"},
        "deny",
    ),
    "PostToolBatch": (points.BatchEnded(calls=((CALL, FINE),)), {"tool_calls"}, "deny"),
    "Notification": (None, {"title", "message", "notification_type"}, ""),
    "SubagentStart": (
        points.AgentStarts(agent=CHILD, child=CHILD, kind="x"), {"agent_id", "agent_type"}, ""
    ),
    "SubagentStop": (
        points.TurnWouldEnd(agent=CHILD, said="done"),
        {
            "agent_id", "agent_type", "stop_hook_active", "agent_transcript_path",
            "last_assistant_message", "background_tasks", "session_crons",
        },
        "deny",
    ),
    "Stop": (
        points.TurnWouldEnd(said="done", again=1),
        {"stop_hook_active", "last_assistant_message", "background_tasks", "session_crons"},
        "deny",
    ),
    "StopFailure": (None, {"error", "error_details", "last_assistant_message"}, ""),
    "TeammateIdle": (
        points.AgentIdles(name="n", team="t"), {"teammate_name", "team_name"}, "deny"
    ),
    "TaskCreated": (points.TaskMoves(id="1", subject="s"), {"task_id", "task_subject"}, "deny"),
    "TaskCompleted": (
        points.TaskMoves(id="1", subject="s", completed=True, description="d"),
        {"task_id", "task_subject", "task_description"},
        "deny",
    ),
    "PreCompact": (
        points.Compacting(trigger="overflow"), {"trigger", "custom_instructions"}, "deny"
    ),
    "PostCompact": (
        points.CompactionEnded(trigger="manual", summary="s"), {"trigger", "compact_summary"}, ""
    ),
    "InstructionsLoaded": (None, {"file_path", "memory_type", "load_reason"}, ""),
    "ConfigChange": (
        points.SettingsChange(source="user", path="/s.json"), {"source", "file_path"}, "deny"
    ),
    "CwdChanged": (None, {"old_cwd", "new_cwd"}, ""),
    "DirectoryAdded": (None, {"directory", "source"}, ""),
    "FileChanged": (None, {"file_path", "event"}, ""),
    "WorktreeCreate": (points.WorktreeWanted(name="w"), {"name"}, "deny"),
    "WorktreeRemove": (points.WorktreeGone(path="/w"), {"worktree_path"}, ""),
    "Elicitation": (
        points.Elicits(server="s", message="m", url="u"),
        {"mcp_server_name", "message", "mode", "url"},
        "deny",
    ),
    "ElicitationResult": (
        points.Elicited(server="s", action="accept", content={"a": 1}),
        {"mcp_server_name", "mode", "action", "content"},
        "deny",
    ),
    "PreModelSwitch": (
        points.ModelChange(before="a", after="b"), {"old_model", "new_model", "reason"}, "deny"
    ),
    "PostModelSwitch": (None, {"old_model", "new_model", "reason"}, ""),
}  # fmt: skip


class Desk:
    def __init__(self, tmp_path: Path, event: str, output: Output, **more: Any) -> None:
        self.said: list[AnyEvent] = []
        self.heard: list[dict[str, Any]] = []
        self.output = output
        self.defers = False
        self.passed: list[tuple[str, str, bool]] = []
        self.engine = Engine(
            EnginePorts(
                kinds={"command": self.run},
                applies=lambda condition, call, access: True,
                publish=lambda event, agent: self.said.append(event),
                tell=lambda text, agent, wakes: self.passed.append((text, agent, wakes)),
                ready=self.ready,
            )
        )
        matcher = more.pop("matcher", "")
        raw = hooks(event, command("x", **more), matcher=matcher)["hooks"]
        given = read(raw, Place("user"), lambda rule: "")
        self.engine.book = book_of((), (given,), Terms(trusted=True), lambda rule: "")
        self.facts = Facts(
            session="s1",
            transcript=lambda agent: f"/t/{agent}.jsonl",
            cwd=lambda agent: tmp_path,
            path=lambda agent, text: tmp_path / text,
            mode=lambda agent: "autoInProject",
            prompt=lambda: "p1",
            effort=lambda: "high",
            kind=lambda agent: "explore",
            running=lambda agent: ["b1: sleep"],
            defers=lambda agent: self.defers,
            printing=self.defers,
        )
        ports = ListeningPorts(
            facts=self.facts,
            spill=tmp_path,
            publish=lambda event, agent: self.said.append(event),
            watch=lambda paths: None,
            only_reads=lambda call, access, agent: True,
        )
        self.listening = Listening(self.engine, ports)

    async def ready(self) -> None:
        pass

    async def run(self, handler: Handler, firing: Firing) -> Output:
        self.heard.append(msgspec.json.decode(firing.data))
        return self.output


def test_every_event_has_its_row() -> None:
    assert ROWS.keys() == EVENTS.keys()


@pytest.mark.parametrize("event", ROWS)
async def test_stdin_and_what_a_block_means(tmp_path: Path, event: str) -> None:
    moment, own, word = ROWS[event]
    desk = Desk(tmp_path, event, Output(exit=2, stderr="no"))
    if moment is None:
        runs = await desk.listening.fire(Told(event, dict.fromkeys(own, "x")))
        assert len(runs) == 1
    else:
        assert told(moment, desk.facts).event == event
        assert (await desk.listening.at(moment)).word == word
    (read,) = desk.heard
    of_child = moment is not None and moment.agent == CHILD
    agent: set[str] = {"agent_id", "agent_type"} if of_child else set()
    assert read.keys() == COMMON | own | agent
    assert read["hook_event_name"] == event
    assert read["permission_mode"] == "acceptEdits"
    assert read["mode"] == ("form" if "mode" in own else "autoInProject")
    assert read["effort"] == {"level": "high"}
    if "tool_input" in own:
        assert read["tool_input"]["file_path"] == str(tmp_path / "a.py"), "hooks get whole paths"


@pytest.mark.parametrize("event", ROWS)
@pytest.mark.parametrize("exit", [0, 1, 127])
async def test_what_other_exits_do(tmp_path: Path, event: str, exit: int) -> None:
    desk = Desk(tmp_path, event, Output(exit=exit, stderr="oh"))
    moment = ROWS[event][0]
    if moment is not None:
        assert (await desk.listening.at(moment)).word == ""
    else:
        await desk.listening.fire(Told(event, {}))
    started, answered, ran = desk.said
    assert isinstance(answered, HookAnswered)
    assert isinstance(started, HookStarted)
    assert isinstance(ran, HookRan)
    assert (ran.outcome, bool(ran.message)) == (("success", False) if not exit else ("error", True))


async def test_a_notice_is_for_the_person_and_said_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "Stop", Output(exit=0, stdout='{"systemMessage": "look"}'))
    assert not (await desk.listening.at(points.TurnWouldEnd(said="x"))).notice
    assert [each.text for each in desk.said if isinstance(each, Noticed)] == ["look"]


async def test_a_summary_is_followed_by_a_start(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "SessionStart", Output(exit=0, stdout="remember this"))
    verdict = await desk.listening.at(points.CompactionEnded(trigger="auto", summary="s"))
    assert "remember this" in verdict.context[0]
    assert desk.heard[0]["source"] == "compact"


async def test_settings_have_their_public_names(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "ConfigChange", Output(exit=0), matcher="policy_settings|user_settings")
    await desk.listening.at(points.SettingsChange(source="project", path="/s.json"))
    assert not desk.heard
    await desk.listening.at(points.SettingsChange(source="managed", path="/s.json"))
    assert desk.heard[0]["source"] == "policy_settings"


async def test_a_model_that_stands_in_is_told_with_what_the_model_is_to_know(
    tmp_path: Path,
) -> None:
    said = Output(exit=0, stdout=json.dumps(part("PostModelSwitch", additionalContext="slower")))
    desk = Desk(tmp_path, "PostModelSwitch", said)
    verdict = await desk.listening.at(points.ModelChange(before="a", after="b", reason="fallback"))
    assert "slower" in verdict.context[0]
    told = {name: desk.heard[0][name] for name in ("old_model", "new_model", "reason")}
    assert told == {"old_model": "a", "new_model": "b", "reason": "fallback"}
    await desk.listening.at(points.ModelChange(before="a", after="b"))
    assert len(desk.heard) == 1, "another one comes as its own event"


async def test_a_terminal_sequence_is_handed_on_and_what_does_more_is_noted(
    tmp_path: Path,
) -> None:
    for text, kept in (("\x1b]0;hi\x07", "\x1b]0;hi\x07"), ("\x1b[2J", "")):
        desk = Desk(tmp_path, "Stop", Output(exit=0, stdout=json.dumps({"terminalSequence": text})))
        await desk.listening.at(points.TurnWouldEnd(said="x"))
        (answered,) = (each for each in desk.said if isinstance(each, HookAnswered))
        (ran,) = (each for each in desk.said if isinstance(each, HookRan))
        assert (answered.terminal, "terminalSequence" in ran.message) == (kept, not kept)
