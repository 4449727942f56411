"""What the model is told unasked of things that come and go: diffed against what it was told.

A subject is told when its text changed since the model last had it, and again in whole where the
view it had is gone: after a summary, a clear, or going back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from gatewright.agent.record.events import AnyEvent, Cleared, Compacted, Rewound, Snipped

KEPT = 100  # subjects; nobody has that many


class Announcement(msgspec.Struct, frozen=True):
    """What the model should know of one subject right now; empty text: nothing any more."""

    subject: str
    text: str


class Announcements:
    def __init__(self, sources: Sequence[Callable[[], Announcement]]) -> None:
        self._sources = list(sources)
        self._told: dict[str, str] = {}

    def add(self, *sources: Callable[[], Announcement]) -> None:
        self._sources += sources

    def saw(self, event: AnyEvent) -> None:
        if isinstance(event, Compacted | Cleared | Rewound | Snipped):
            self._told.clear()

    def due(self) -> Sequence[str]:
        """What is to be told now; then it counts as told."""
        found: list[str] = []
        for source in self._sources[:KEPT]:
            now = source()
            before = self._told.get(now.subject, "")
            if now.text == before:
                continue
            self._told[now.subject] = now.text
            found.append(now.text or f"{now.subject}: nothing of what was said holds any more.")
        return found
