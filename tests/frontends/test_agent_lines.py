"""What agents do, in the public dialect: under the call that started each, and as a task."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from gatewright.agent.frontends.sdk.stream_json import Dialect
from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    AnyEvent,
    AssistantMessage,
    AttemptPaid,
    Compacted,
    Decided,
    Envelope,
    TasksChanged,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.events_of_agents import AgentStatus
from gatewright.agent.record.messages import CallPart, TextPart, ThinkingPart, Usage
from gatewright.agent.subcommands.schema import Name, document
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent

PUBLISHED: Any = jsonschema.Draft202012Validator(document(Name.OUTPUT))
CHILD, BELOW = "main/a1", "main/a1/b2"
READ = CallPart("r1", "Read", {"file_path": "a"})


class Stream:
    """A dialect, and the clock of what it is told."""

    def __init__(self) -> None:
        self.dialect = Dialect("s", new_id=lambda: "u")
        self.now = 0.0

    def __call__(self, event: AnyEvent, agent: str = MAIN) -> list[dict[str, Any]]:
        envelope = Envelope(seq=1, uuid="", parent="", timestamp=self.now, agent=agent, event=event)
        found = self.dialect.lines(envelope)
        for line in found:
            PUBLISHED.validate(line)
        return found


def started(child: str = CHILD, call: str = "call1", **more: Any) -> AgentStarted:
    return AgentStarted(
        child=child,
        kind="Explore",
        prompt="Look.\nAll.",
        call_id=call,
        description="look around",
        **more,
    )


def said(*parts: Any, usage: Usage = Usage(10, 5), cost: float = 0.25) -> AssistantMessage:  # noqa: B008
    return AssistantMessage(id="m", model="small", parts=parts, usage=usage, cost=cost)


def ended(child: str = CHILD, status: AgentStatus = "completed", **more: Any) -> AgentFinished:
    return AgentFinished(
        child=child, ok=status == "completed", report="All seen.", status=status, **more
    )


def test_calls_and_results_are_told_under_the_call_that_started_it() -> None:
    tell = Stream()
    tell(started())
    (call,) = tell(said(TextPart("I look."), READ), CHILD)
    assert (call["type"], call["parent_tool_use_id"]) == ("assistant", "call1")
    assert [block["type"] for block in call["message"]["content"]] == ["tool_use"]
    tell(ToolStarted(call_id="r1", name="Read", input={}, verb="Read", target="a"), CHILD)
    (result,) = tell(ToolFinished(call_id="r1", ok=True, content=(TextContent("x"),)), CHILD)
    assert (result["type"], result["parent_tool_use_id"]) == ("user", "call1")
    assert tell(said(TextPart("Done.")), CHILD) == []
    assert tell(UserMessage(content=(TextContent("Look."),)), CHILD) == []


def test_words_too_where_they_are_wanted() -> None:
    tell = Stream()
    tell.dialect.agents.words = True
    tell(started())
    (asked,) = tell(UserMessage(content=(TextContent("Look."),)), CHILD)
    (answer,) = tell(said(ThinkingPart("Hm."), TextPart("Done.")), CHILD)
    assert [asked["parent_tool_use_id"], answer["parent_tool_use_id"]] == ["call1"] * 2
    assert [block["type"] for block in answer["message"]["content"]] == ["thinking", "text"]
    assert tell(UserMessage(content=(TextContent("x"),), hidden=True), CHILD) == []


def test_at_every_depth_and_none_where_no_call_started_it() -> None:
    tell = Stream()
    tell(started())
    (line, *_) = tell(started(BELOW, "call2"), CHILD)
    assert (line["task_id"], line["tool_use_id"]) == ("b2", "call2")
    (call,) = tell(said(READ), BELOW)
    assert call["parent_tool_use_id"] == "call2"
    assert tell(started("main/hook1", "")) == []
    assert tell(said(READ), "main/hook1") == []


def test_a_task_from_start_to_end() -> None:
    tell = Stream()
    (begun,) = tell(started())
    about = {"task_id": "a1", "tool_use_id": "call1", "description": "look around"}
    assert begun.items() >= {"subtype": "task_started", "task_type": "local_agent", **about}.items()
    tell(said(READ), CHILD)
    tell(ToolStarted(call_id="r1", name="Read", input={}, verb="Read", target="a"), CHILD)
    at_work = AgentProgressed(child=CHILD, state="Read", target="a", tools=1)
    tell.now = 0.5
    assert tell(at_work, CHILD) == [], "once a second is enough"
    tell.now = 1.5
    (progress,) = tell(at_work, CHILD)
    assert progress["subtype"] == "task_progress"
    assert progress["usage"] == {"total_tokens": 15, "tool_uses": 1, "duration_ms": 1500}
    assert progress["last_tool_name"] == "Read"
    tell.now = 2.0
    updated, notice = tell(ended(usage=Usage(10, 5), tools=1))
    assert updated["patch"] == {"status": "completed", "end_time": 2000}
    assert (notice["status"], notice["summary"]) == ("completed", "All seen.")
    assert notice["usage"]["duration_ms"] == 2000
    assert tell(ended()) == [], "an end is told once"


@pytest.mark.parametrize(
    ("status", "patch", "told"),
    [
        ("stopped", "killed", "stopped"),
        ("failed", "failed", "failed"),
        ("budget_exhausted", "failed", "failed"),
        ("interrupted", "failed", "failed"),
    ],
)
def test_ends_in_the_words_of_the_dialect(status: AgentStatus, patch: str, told: str) -> None:
    tell = Stream()
    tell(started())
    updated, notice = tell(ended(status=status))
    assert (updated["patch"]["status"], notice["status"]) == (patch, told)


def test_how_it_stands_and_that_it_went_to_the_background() -> None:
    tell = Stream()
    tell(started())

    def patches(**more: Any) -> list[dict[str, Any]]:
        return [
            line["patch"] for line in tell(AgentProgressed(child=CHILD, state="", **more), CHILD)
        ]

    assert patches(phase="queued") == [{"status": "pending"}]
    assert patches(phase="running") == [{"status": "running"}]
    assert patches(phase="waiting", background=True) == [
        {"status": "paused", "is_backgrounded": True}
    ]
    assert patches(phase="waiting", background=True) == []


def test_one_that_goes_on_is_a_task_again() -> None:
    tell = Stream()
    tell(started())
    tell(ended())
    (begun,) = tell(started(call="", resumed=True, background=True))
    assert (begun["subtype"], begun["tool_use_id"]) == ("task_started", "call1")
    assert [line["subtype"] for line in tell(ended())] == ["task_updated", "task_notification"]


def test_a_job_that_is_an_agent_is_not_told_twice() -> None:
    tell = Stream()
    tell(started(background=True))
    (shell,) = tell(TasksChanged(running=("a1: Explore, look", "shell_1: sleep 60")))
    assert (shell["task_id"], shell["task_type"]) == ("shell_1", "local_bash")
    assert tell(TasksChanged(running=("shell_1: sleep 60",), ended="a1", status="completed")) == []


def test_the_result_sums_what_all_have_used() -> None:
    tell = Stream()
    tell(said(TextPart("Hi."), cost=1.0))
    tell(started())
    tell(said(READ), CHILD)
    tell(AttemptPaid(model="small", usage=Usage(1, 1), cost=0.5), CHILD)
    compacted = Compacted(summary="", trigger="auto", tokens_before=9, usage=Usage(2, 2), cost=0.25)
    tell(compacted, CHILD)
    (result,) = tell(TurnEnded(stop=Stop.COMPLETED, usage=Usage(10, 5)))
    assert result["total_cost_usd"] == 2.0
    assert result["modelUsage"]["small"]["inputTokens"] == 23
    assert result["usage"]["input_tokens"] == 10, "of the turn itself"


def test_what_an_agent_was_denied_says_whose_it_was() -> None:
    tell = Stream()
    tell(started())
    call = {"command": "rm x"}
    for agent in (CHILD, MAIN):
        tell(ToolStarted(call_id="c", name="Bash", input=call, verb="", target=""), agent)
        denied = Decided(
            call_id="c", tool="Bash", target="rm x", behavior="deny", stage="deny", reason="No."
        )
        tell(denied, agent)
    (result,) = tell(TurnEnded(stop=Stop.COMPLETED))
    assert [denial.get("agent_id") for denial in result["permission_denials"]] == ["a1", None]
    assert [denial["tool_input"] for denial in result["permission_denials"]] == [call, call]
