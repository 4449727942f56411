"""What the person typed and the loop has not taken up yet.

Typed input always overtakes notices of the system; order within one priority is kept.
"""

from __future__ import annotations

import asyncio
import enum
from typing import Literal, TypeAlias

import msgspec

from gatewright.agent.commands.outcome import Scope
from gatewright.agent.record.events import QueueChanged, UserMessage
from gatewright.agent.text.well_formed import formed, well_formed
from gatewright.tools.protocol import Content, TextContent

# Whose words an input is; `program` is a notice of our own. Only a person's are a person's.
InputSource: TypeAlias = Literal[
    "person", "program", "job", "schedule", "watch", "project", "channel", "peer", "agent"
]  # fmt: skip


# What began by itself: nobody typed it.
NOBODYS = frozenset({"schedule", "watch", "project", "channel", "peer"})


class Priority(enum.IntEnum):
    NOW = 0
    NEXT = 1
    LATER = 2  # notices of the system


class Input(msgspec.Struct, frozen=True):
    id: str
    content: tuple[Content, ...]
    priority: Priority = Priority.NEXT
    hidden: bool = False
    wakes: bool = True  # worth a turn of its own; else it waits for one
    typed: str | None = None  # what the person wrote of it with their own hands; None: all
    scope: Scope | None = None  # of the command that brought it
    source: InputSource = "person"

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, TextContent))

    @property
    def own(self) -> str:
        """What names files to attach: nothing that others wrote."""
        return self.typed or ""

    def message(self) -> UserMessage:
        content = formed(self.content)
        source = "" if self.source in ("person", "program") else self.source
        own = None if self.hidden or source or self._all_typed() else self.typed
        own = own if own is None else well_formed(own)
        return UserMessage(
            content=content, input_id=self.id, hidden=self.hidden, source=source, typed=own
        )

    def _all_typed(self) -> bool:
        return self.typed == self.text or (self.scope is not None and self.scope.line)


class Inbox:
    def __init__(self) -> None:
        self._waiting: list[Input] = []
        self._news = asyncio.Event()
        self._told: tuple[str, ...] = ()

    def put(self, item: Input) -> None:
        place = len(self._waiting)
        while place and self._waiting[place - 1].priority > item.priority:
            place -= 1
        self._waiting.insert(place, item)
        self._news.set()

    def take(self) -> tuple[Input, ...]:
        """Everything that waits, most urgent first."""
        taken, self._waiting = tuple(self._waiting), []
        return taken

    def take_back(self) -> tuple[Input, ...]:
        """Take back what the person typed; notices stay."""
        typed = tuple(item for item in self._waiting if item.priority < Priority.LATER)
        self._waiting = [item for item in self._waiting if item.priority == Priority.LATER]
        self._news.set()
        return typed

    def texts(self) -> tuple[str, ...]:
        return tuple(item.text for item in self._waiting if not item.hidden)

    def changed(self) -> QueueChanged | None:
        """What waits now, if that is not what was told last."""
        if self.texts() == self._told:
            return None
        self._told = self.texts()
        return QueueChanged(texts=self._told)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def wakes(self) -> bool:
        """Whether anything that waits is worth a turn."""
        return any(item.wakes for item in self._waiting)

    async def news(self) -> None:
        """Until something is put in, or taken back. Has no limit: the runner idles here."""
        self._news.clear()
        await self._news.wait()
