"""What runs beside the conversation as lines of print mode: hooks, and background work.

A client shows it, and can ask to have background work stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gatewright.agent.frontends.sdk.shapes import Line
from gatewright.agent.record.events import HookAnswered, HookRan, HookStarted, TasksChanged

TYPES = {"shell": "local_bash", "agent": "local_agent", "workflow": "local_workflow"}


class HookLines:
    """Keeps what a hook printed until it is known how it went."""

    def __init__(self) -> None:
        self._said: dict[str, HookAnswered] = {}

    def lines(self, event: HookStarted | HookAnswered | HookRan) -> Iterator[Line]:
        match event:
            case HookStarted(id=id, hook_event=name, command=command):
                yield _line("hook_started", id, command, name)
            case HookAnswered(id=id):
                self._said[id] = event
            case HookRan(id=id, hook_event=name, command=command):
                said = self._said.pop(id, None)
                stdout, stderr = (said.stdout, said.stderr) if said is not None else ("", "")
                yield {
                    **_line("hook_response", id, command, name),
                    "output": stdout or stderr,
                    "stdout": stdout,
                    "stderr": stderr,
                    "exit_code": event.exit,
                    "outcome": event.outcome,
                }


def _line(subtype: str, id: str, command: str, event: str) -> Line:
    return {
        "type": "system",
        "subtype": subtype,
        "hook_id": id,
        "hook_name": command,
        "hook_event": event,
    }


def _none(id: str) -> bool:
    del id
    return False


class Tasks:
    """Knows which were begun: the event says only what runs now. Agents are told of elsewhere."""

    def __init__(self, is_agent: Callable[[str], bool] = _none) -> None:
        self._is_agent = is_agent
        self._titles: dict[str, str] = {}

    def lines(self, changed: TasksChanged) -> Iterator[Line]:
        for line in changed.running:
            id, _, title = line.partition(": ")
            if id not in self._titles and not self._is_agent(id):
                self._titles[id] = title
                kind = id.partition("_")[0]
                yield {
                    "type": "system",
                    "subtype": "task_started",
                    "task_id": id,
                    "description": title,
                    "task_type": TYPES.get(kind, kind),
                }
        if changed.ended and not self._is_agent(changed.ended):
            title = self._titles.pop(changed.ended, "")
            yield {
                "type": "system",
                "subtype": "task_notification",
                "task_id": changed.ended,
                "status": _status(changed.status),
                "output_file": "",
                "summary": f"{title}: {changed.status}" if title else changed.status,
            }


def _status(how: str) -> str:
    if how == "stopped":
        return "stopped"
    return "completed" if how in ("exit 0", "completed") else "failed"
