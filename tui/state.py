"""What the screen knows at one moment, and the changes its transcript goes through. Data only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from gatewright.agent.messages import Usage
from gatewright.tools.interact import Ask
from gatewright.tui.transcript.items import Item, Prose, Thought, ToolRun

MAIN = "main"


@dataclass(frozen=True)
class Pending:
    """A question waiting for the person."""

    id: int
    ask: Ask
    agent: str


@dataclass(frozen=True)
class View:
    """The state of the screen after some event."""

    mode: str = ""
    model: str = ""
    cwd: str = ""
    title: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    context: int = 0
    window: int = 0
    queue: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    asks: tuple[Pending, ...] = ()
    agents: tuple[tuple[str, str], ...] = ()  # child and what it does now
    busy_since: float = 0.0  # 0: nothing runs
    doing: str = ""
    next_id: int = 1
    live: tuple[Prose | Thought, ...] = ()  # the message being streamed
    tools: dict[str, ToolRun] = field(default_factory=dict[str, ToolRun])

    @property
    def busy(self) -> bool:
        return self.busy_since > 0


@dataclass(frozen=True)
class Appended:
    item: Item


@dataclass(frozen=True)
class Patched:
    item: Item


@dataclass(frozen=True)
class Removed:
    id: int


@dataclass(frozen=True)
class Emptied:
    """The screen starts again."""


@dataclass(frozen=True)
class Marked:
    """Everything so far belongs to this event or an earlier one."""

    uuid: str


@dataclass(frozen=True)
class Returned:
    """The conversation went back to an event, of this branch or of one left before."""

    to: str


Change: TypeAlias = Appended | Patched | Removed | Emptied | Marked | Returned
Reduced: TypeAlias = tuple[View, tuple[Change, ...]]
