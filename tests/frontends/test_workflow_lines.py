"""What runs of workflows do, in the public dialect: a task from its start to its end."""

from __future__ import annotations

from typing import Any

import jsonschema

from gatewright.agent.frontends.sdk.stream_json import Dialect
from gatewright.agent.record.events import (
    AnyEvent,
    Envelope,
    TasksChanged,
    WorkflowEnded,
    WorkflowProgressed,
    WorkflowStarted,
)
from gatewright.agent.record.events_of_workflows import CallNow, CallState, PhaseNow
from gatewright.agent.record.messages import Usage
from gatewright.agent.subcommands.schema import Name, document
from gatewright.tools.access import MAIN

PUBLISHED: Any = jsonschema.Draft202012Validator(document(Name.OUTPUT))
STARTED = WorkflowStarted(run="wf_1", name="review", call_id="c1", description="Review it")


class Stream:
    """A dialect, and the clock of what it is told."""

    def __init__(self) -> None:
        self.dialect = Dialect("s", new_id=lambda: "u")
        self.now = 0.0

    def __call__(self, event: AnyEvent, after: float = 0.0) -> list[dict[str, Any]]:
        self.now += after
        envelope = Envelope(seq=1, uuid="", parent="", timestamp=self.now, agent=MAIN, event=event)
        found = self.dialect.lines(envelope)
        for line in found:
            PUBLISHED.validate(line)
        return found


def call(index: int, state: CallState, **more: Any) -> CallNow:
    return CallNow(index=index, label=f"l{index}", phase="Look", state=state, agent="a1", **more)


def progressed(*calls: CallNow, **more: Any) -> WorkflowProgressed:
    phases = (PhaseNow("Look", total=3, ok=1),)
    return WorkflowProgressed(run="wf_1", name="review", calls=calls, phases=phases, **more)


def told(lines: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [
        (each["index"], each["state"])
        for line in lines
        for each in line.get("workflow_progress", ())
        if each["type"] == "workflow_agent"
    ]


def test_a_run_is_a_task_and_its_job_no_other() -> None:
    stream = Stream()
    (line,) = stream(STARTED)
    assert (line["subtype"], line["task_id"], line["tool_use_id"]) == ("task_started", "wf_1", "c1")
    assert (line["task_type"], line["workflow_name"]) == ("local_workflow", "review")
    assert stream(TasksChanged(running=("wf_1: Review it",))) == []
    assert stream(TasksChanged(running=(), ended="wf_1", status="done")) == []


def test_progress_is_told_once_a_second_and_nothing_is_lost_between() -> None:
    stream = Stream()
    stream(STARTED)
    assert stream(progressed(call(1, "running"), call(2, "queued"), total=2), 0.3) == []
    assert stream(progressed(call(1, "done"), call(2, "running")), 0.3) == []
    lines = stream(progressed(call(3, "replayed"), tokens=50, total=3), 0.5)
    (line,) = lines
    assert line["subtype"] == "task_progress"
    assert line["usage"] == {"total_tokens": 50, "tool_uses": 3, "duration_ms": 1100}
    assert told(lines) == [(1, "done"), (2, "start"), (3, "cached")]
    (phase,) = (each for each in line["workflow_progress"] if each["type"] == "workflow_phase")
    assert phase == {"type": "workflow_phase", "title": "Look", "agents": 3, "done": 1, "failed": 0}
    lines = stream(progressed(call(2, "asks"), call(2, "running")), 1.0)
    assert told(lines) == [] and lines[0]["workflow_progress"] == []
    lines = stream(progressed(call(2, "failed", error="model")), 1.0)
    assert told(lines) == [(2, "error")]
    assert lines[0]["workflow_progress"][-1]["error"] == "model"


def test_states_of_the_run_are_told_at_once() -> None:
    stream = Stream()
    stream(STARTED)
    (line,) = stream(progressed(status="paused"), 0.1)
    assert (line["subtype"], line["patch"]) == ("task_updated", {"status": "paused"})
    (line,) = stream(progressed(status="running"), 0.1)
    assert line["patch"] == {"status": "running"}


def ended(status: Any, **more: Any) -> WorkflowEnded:
    return WorkflowEnded(run="wf_1", name="review", status=status, usage=Usage(input=9), **more)


def test_one_notification_whatever_comes_after() -> None:
    stream = Stream()
    stream(STARTED)
    stream(progressed(call(1, "done")), 0.2)
    progress, updated, notified = stream(ended("done", result="All is well.", script="/s.js"), 0.2)
    assert told([progress]) == [(1, "done")]
    assert updated["patch"]["status"] == "completed"
    assert (notified["subtype"], notified["status"]) == ("task_notification", "completed")
    assert (notified["summary"], notified["output_file"]) == ("All is well.", "/s.js")
    assert stream(ended("done")) == [] and stream(progressed(call(2, "done")), 5.0) == []


def test_how_it_ended() -> None:
    for status, said, patch in (
        ("failed", "failed", "failed"),
        ("interrupted", "failed", "failed"),
        ("stopped", "stopped", "killed"),
    ):
        stream = Stream()
        stream(STARTED)
        updated, notified = stream(ended(status, why="It broke in line 3."))
        assert (notified["status"], updated["patch"]["status"]) == (said, patch)
        assert notified["summary"] == "It broke in line 3."


def test_one_that_goes_on_is_a_task_again_under_the_call_that_began_it() -> None:
    stream = Stream()
    stream(STARTED)
    stream(ended("stopped"))
    (line,) = stream(WorkflowStarted(run="wf_1", name="review", resumed=True))
    assert (line["subtype"], line["tool_use_id"]) == ("task_started", "c1")
    assert len(stream(ended("done"))) == 2


def test_a_typed_one_has_no_call() -> None:
    stream = Stream()
    (line,) = stream(WorkflowStarted(run="wf_1", name="review"))
    assert "tool_use_id" not in line and line["description"] == "review"
    (line,) = stream(progressed(), 2.0)
    assert "tool_use_id" not in line


def test_a_run_nobody_told_of_is_nobodys_task() -> None:
    assert Stream()(progressed(call(1, "done")), 2.0) == [] == Stream()(ended("done"))
