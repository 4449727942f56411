"""Runs of workflows as lines of print mode: each is a task, with what its phases and agents are at.

A client hears of an agent when it begins and when it ends, at most once a second in one line; of
the end of a run once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from gatewright.agent.frontends.sdk.shapes import Line
from gatewright.agent.record.events import (
    AnyEvent,
    WorkflowEnded,
    WorkflowProgressed,
    WorkflowStarted,
)
from gatewright.agent.record.events_of_workflows import CallNow, CallState, PhaseNow

BETWEEN = 1.0  # seconds from one word about a run to the next
TEXT = 8_000  # characters of a result in a notification
STATES: Mapping[CallState, str] = {
    "held": "start", "running": "start", "waiting": "start", "asks": "start",
    "done": "done", "failed": "error", "stopped": "error", "replayed": "cached",
}  # fmt: skip
PATCHES = {"pending": "pending", "running": "running", "paused": "paused"}
ENDS = {"done": "completed", "stopped": "stopped"}  # all others have failed


class Run(msgspec.Struct, kw_only=True):
    """One run, and what was told of it."""

    id: str
    call_id: str
    name: str
    description: str
    began: float
    told: float
    status: str = "running"
    tokens: int = 0
    agents: int = 0
    running: bool = True
    phases: tuple[PhaseNow, ...] = ()
    waiting: dict[int, CallNow] = {}  # what changed and was not told
    states: dict[int, str] = {}  # what was told of each call

    def usage(self, now: float) -> Line:
        ms = max(0, round((now - self.began) * 1000))
        return {"total_tokens": self.tokens, "tool_uses": self.agents, "duration_ms": ms}


class WorkflowLines:
    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}

    def knows(self, id: str) -> bool:
        """Whether background work of that id is a run, which is told of here."""
        return id in self._runs

    def lines(self, event: AnyEvent, at: float) -> Iterator[Line]:
        match event:
            case WorkflowStarted():
                yield from self._started(event, at)
            case WorkflowProgressed(run=id) if (run := self._runs.get(id)) is not None:
                yield from self._progressed(run, event, at)
            case WorkflowEnded(run=id) if (run := self._runs.get(id)) is not None:
                yield from self._ended(run, event, at)
            case _:
                pass

    def _started(self, event: WorkflowStarted, at: float) -> Iterator[Line]:
        before = self._runs.get(event.run)
        run = self._runs[event.run] = Run(
            id=event.run,
            call_id=event.call_id or (before.call_id if before is not None else ""),
            name=event.name,
            description=event.title or event.description or event.name,
            began=at,
            told=at,
        )
        yield {
            **_about(run, "task_started"),
            "task_type": "local_workflow",
            "workflow_name": run.name,
        }

    def _progressed(self, run: Run, event: WorkflowProgressed, at: float) -> Iterator[Line]:
        if not run.running:
            return
        run.tokens, run.agents = max(run.tokens, event.tokens), max(run.agents, event.total)
        run.waiting |= {call.index: call for call in event.calls}
        if (status := PATCHES.get(event.status, run.status)) != run.status:
            run.status = status
            yield {**_about(run, "task_updated"), "patch": {"status": status}}
        if at - run.told >= BETWEEN:
            yield from self._told(run, event.phases, at)

    def _told(self, run: Run, phases: tuple[PhaseNow, ...], at: float) -> Iterator[Line]:
        """What its phases and agents are at, as far as that is new."""
        changed = [phase for phase in phases if phase not in run.phases]
        progress = [*map(_phase, changed), *self._agents(run)]
        run.told, run.phases, run.waiting = at, phases or run.phases, {}
        yield {
            **_about(run, "task_progress"),
            "usage": run.usage(at),
            "workflow_progress": progress,
        }

    def _agents(self, run: Run) -> Iterator[Line]:
        for index, call in run.waiting.items():
            state = STATES.get(call.state, "")
            if state and run.states.get(index) != state:
                run.states[index] = state
                yield _agent(call, state)

    def _ended(self, run: Run, event: WorkflowEnded, at: float) -> Iterator[Line]:
        if not run.running:
            return
        used = event.usage
        run.tokens = max(run.tokens, used.input + used.output + used.cache_read + used.cache_write)
        run.agents = max(run.agents, event.ok + event.failed + event.replayed)
        if run.waiting:
            yield from self._told(run, run.phases, at)
        run.running = False
        status = ENDS.get(event.status, "failed")
        patch: Line = {
            "status": "killed" if status == "stopped" else status,
            "end_time": round(at * 1000),
        }
        yield {**_about(run, "task_updated"), "patch": patch}
        said = event.result if event.status == "done" else event.why
        yield {
            **_about(run, "task_notification"),
            "status": status,
            "output_file": event.script,
            "summary": said[:TEXT] or f"{run.description}: {event.status}",
            "usage": run.usage(at),
        }


def _phase(phase: PhaseNow) -> Line:
    return {
        "type": "workflow_phase",
        "title": phase.title,
        "agents": phase.total,
        "done": phase.ok + phase.replayed,
        "failed": phase.failed,
    }


def _agent(call: CallNow, state: str) -> Line:
    line: Line = {
        "type": "workflow_agent",
        "index": call.index,
        "label": call.label,
        "phase": call.phase,
        "state": state,
        "agent_id": call.agent,
        "tokens": call.tokens,
    }
    return {**line, "error": call.error} if state == "error" else line


def _about(run: Run, subtype: str) -> Line:
    line: Line = {"type": "system", "subtype": subtype, "task_id": run.id}
    if run.call_id:
        line["tool_use_id"] = run.call_id
    return {**line, "description": run.description}
