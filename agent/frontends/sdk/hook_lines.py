"""Hooks as the lines of print mode: that one begins, and what it answered."""

from __future__ import annotations

from collections.abc import Iterator

from gatewright.agent.frontends.sdk.shapes import Line
from gatewright.agent.record.events import HookAnswered, HookRan, HookStarted


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
