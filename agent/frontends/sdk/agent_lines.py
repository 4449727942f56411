"""What agents below the main one do, as lines of print mode under the call that started each.

Their calls and results are told, their words only to who wants them; and each as a task, from its
start over what it is at to one word about its end. One that no call started is nobody's task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from gatewright.agent.frontends.sdk.shapes import Line, assistant, blocks, tool_result
from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    AssistantMessage,
    AttemptPaid,
    Compacted,
    Envelope,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from gatewright.agent.record.messages import CallPart

# Of agents below the main one, beside what goes up by itself.
BELOW = (AssistantMessage, AttemptPaid, Compacted, ToolFinished, ToolStarted, UserMessage)
BETWEEN = 1.0  # seconds from one word about a task to the next
STATES = {"queued": "pending", "running": "running", "waiting": "paused"}
ENDS = {"completed": "completed", "stopped": "stopped"}  # all others have failed
REPORT = 8_000  # characters of a report in a notification


class Task(msgspec.Struct, kw_only=True):
    """One that was started by a call."""

    id: str
    call_id: str
    description: str
    began: float
    tokens: int = 0
    tools: int = 0
    last_tool: str = ""
    told: float = 0.0
    status: str = "running"
    background: bool = False
    running: bool = True

    def usage(self, now: float) -> Line:
        ms = max(0, round((now - self.began) * 1000))
        return {"total_tokens": self.tokens, "tool_uses": self.tools, "duration_ms": ms}


def _nowhere(path: str) -> str:
    del path
    return ""


class AgentLines:
    """`words`: text and thinking of agents are told, too. `file_of` says where one is stored."""

    def __init__(self, *, file_of: Callable[[str], str] = _nowhere) -> None:
        self.words = False
        self._file_of = file_of
        self._tasks: dict[str, Task] = {}  # by path

    def knows(self, id: str) -> bool:
        """Whether background work of that id is an agent, which is told of here."""
        return any(task.id == id for task in self._tasks.values())

    def lines(self, envelope: Envelope) -> Iterator[Line]:
        event, at = envelope.event, envelope.timestamp
        match event:
            case AgentStarted():
                yield from self._started(event, at)
            case AgentProgressed(child=child) if (task := self._tasks.get(child)) is not None:
                yield from self._progressed(task, event, at)
            case AgentFinished(child=child) if (task := self._tasks.get(child)) is not None:
                yield from self._finished(task, event, at)
            case _:
                if (task := self._tasks.get(envelope.agent)) is not None:
                    yield from self._said(task, envelope)

    def parent_of(self, agent: str) -> str | None:
        """The call that started it."""
        return task.call_id if (task := self._tasks.get(agent)) is not None else None

    def _started(self, event: AgentStarted, at: float) -> Iterator[Line]:
        known = self._tasks.get(event.child)
        call_id = event.call_id or (known.call_id if known is not None else "")
        if not call_id:
            return
        task = self._tasks[event.child] = Task(
            id=event.child.rpartition("/")[2],
            call_id=call_id,
            description=event.description or event.prompt.partition("\n")[0][:80],
            began=at,
            told=at,
            background=event.background,
        )
        line = {**_about(task, "task_started"), "task_type": "local_agent"}
        yield {**line, "subagent_type": event.kind, "prompt": event.prompt}

    def _progressed(self, task: Task, event: AgentProgressed, at: float) -> Iterator[Line]:
        patch: Line = {}
        if (status := STATES[event.phase]) != task.status:
            task.status = patch["status"] = status
        if event.background and not task.background:
            task.background = patch["is_backgrounded"] = True
        if patch:
            yield {**_about(task, "task_updated"), "patch": patch}
        task.tools = max(task.tools, event.tools)
        if at - task.told >= BETWEEN:
            task.told = at
            line = {**_about(task, "task_progress"), "usage": task.usage(at)}
            yield {**line, **({"last_tool_name": task.last_tool} if task.last_tool else {})}

    def _finished(self, task: Task, event: AgentFinished, at: float) -> Iterator[Line]:
        if not task.running:
            return
        task.running = False
        task.tools = max(task.tools, event.tools)
        task.tokens = max(task.tokens, event.usage.context)
        status = ENDS.get(event.status, "failed")
        ended = {
            "status": "killed" if status == "stopped" else status,
            "end_time": round(at * 1000),
        }
        yield {**_about(task, "task_updated"), "patch": ended}
        yield {
            **_about(task, "task_notification"),
            "status": status,
            "output_file": self._file_of(event.child),
            "summary": event.report[:REPORT] or f"{task.description}: {event.status}",
            "usage": task.usage(at),
        }

    def _said(self, task: Task, envelope: Envelope) -> Iterator[Line]:
        event = envelope.event
        match event:
            case AssistantMessage(parts=parts):
                task.tokens += event.usage.context
                calls = [part for part in parts if isinstance(part, CallPart)]
                if told := parts if self.words else calls:
                    yield {**assistant(event, told), **_under(task)}
            case ToolStarted(name=name):
                task.tools, task.last_tool = task.tools + 1, name
            case ToolFinished():
                yield {**tool_result(event), **_under(task)}
            case UserMessage(hidden=False, content=content) if self.words:
                message = {"role": "user", "content": blocks(content)}
                yield {"type": "user", "message": message, **_under(task)}
            case _:
                pass


def _under(task: Task) -> Line:
    return {"parent_tool_use_id": task.call_id}


def _about(task: Task, subtype: str) -> Line:
    return {
        "type": "system",
        "subtype": subtype,
        "task_id": task.id,
        "tool_use_id": task.call_id,
        "description": task.description,
    }
