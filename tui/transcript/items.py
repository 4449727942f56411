"""The records of the transcript, as plain data; how they look is in `draw.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gatewright.agent.messages import Usage
from gatewright.agent.stop import Stop
from gatewright.tools.blocks import Block, Tone

ToolState: TypeAlias = Literal["running", "ok", "failed", "stopped"]


@dataclass(frozen=True)
class Said:
    """What the person sent."""

    id: int
    text: str


@dataclass(frozen=True)
class Prose:
    """What the model wrote; `done` once it is complete."""

    id: int
    text: str
    done: bool = False


@dataclass(frozen=True)
class Thought:
    id: int
    text: str
    started: float = 0.0
    ms: int = 0
    done: bool = False


@dataclass(frozen=True)
class ToolRun:
    """One call: `before` is what it would do, `view` what came of it, `text` where it has none."""

    id: int
    call_id: str
    name: str
    verb: str
    target: str
    state: ToolState = "running"
    summary: str = ""
    ms: int = 0
    seconds: float = 0.0
    before: tuple[Block, ...] = ()
    view: tuple[Block, ...] = ()
    text: str = ""
    tail: str = ""


@dataclass(frozen=True)
class Note:
    id: int
    text: str
    tone: Tone = "normal"


@dataclass(frozen=True)
class Shown:
    """What a command of this screen answered: blocks, no part of the conversation."""

    id: int
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Rule:
    """A line across, with a word on it."""

    id: int
    text: str


@dataclass(frozen=True)
class Ending:
    """The end of a turn: what it took, and why it stopped when it did not simply complete."""

    id: int
    stop: Stop
    message: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    ms: int = 0


Item: TypeAlias = Said | Prose | Thought | ToolRun | Note | Shown | Rule | Ending
