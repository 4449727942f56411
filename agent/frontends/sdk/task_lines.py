"""Background work as its begin and its end: what a client shows, and can ask to have stopped."""

from __future__ import annotations

from collections.abc import Iterator

from gatewright.agent.frontends.sdk.shapes import Line
from gatewright.agent.record.events import TasksChanged

TYPES = {"shell": "local_bash", "agent": "local_agent"}


class Tasks:
    """Knows which were begun: the event says only what runs now."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}

    def lines(self, changed: TasksChanged) -> Iterator[Line]:
        for line in changed.running:
            id, _, title = line.partition(": ")
            if id not in self._titles:
                self._titles[id] = title
                kind = id.partition("_")[0]
                yield {
                    "type": "system",
                    "subtype": "task_started",
                    "task_id": id,
                    "description": title,
                    "task_type": TYPES.get(kind, kind),
                }
        if changed.ended:
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
