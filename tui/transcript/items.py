"""The records of the transcript, as plain data; how they look is in `draw.py`."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from gatewright.agent.record.messages import Usage
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import Looks
from gatewright.tools.blocks import Block, Text, Tone

ToolState: TypeAlias = Literal["running", "ok", "failed", "refused", "stopped"]


class Said(msgspec.Struct, frozen=True):
    """What the person sent."""

    id: int
    text: str


class Prose(msgspec.Struct, frozen=True):
    """What the model wrote; `done` once it is complete."""

    id: int
    text: str
    done: bool = False


class Thought(msgspec.Struct, frozen=True):
    id: int
    text: str
    started: float = 0.0
    ms: int = 0
    done: bool = False


class ToolRun(msgspec.Struct, frozen=True):
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
    started: float = 0.0
    movable: bool = False  # it can be sent to the background
    hooks: tuple[str, ...] = ()  # those that had nothing against it
    looks: Looks = ""


def told(view: tuple[Block, ...], summary: str) -> tuple[Block, ...]:
    """What came of a call, without a text that only repeats the end of its head."""
    return tuple(block for block in view if not (isinstance(block, Text) and block.text == summary))


class Looked(msgspec.Struct, frozen=True):
    """Calls one after another that only read and searched; they all have its id."""

    id: int
    runs: tuple[ToolRun, ...]


class AgentBlock(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that this one started: its task, what it is at or used, at last its report."""

    id: int
    path: str
    label: str
    task: str
    state: str
    doing: str = ""
    tools: int = 0
    tokens: int = 0
    cost: float = 0.0
    ms: int = 0
    prompt: str = ""
    report: str = ""
    why: str = ""  # it did not get to its end: what was in the way
    place: str = ""  # the worktree and branch that it left


class Note(msgspec.Struct, frozen=True):
    id: int
    text: str
    tone: Tone = "normal"


class Shown(msgspec.Struct, frozen=True):
    """What a command of this screen answered: blocks, no part of the conversation."""

    id: int
    title: str
    blocks: tuple[Block, ...]


class Rule(msgspec.Struct, frozen=True):
    """A line across, with a word on it, and maybe a text that it stands for.

    Where it comes `first`, the text is all there is of what was said before, and is shown.
    """

    id: int
    text: str
    more: str = ""
    first: bool = False


class Invocation(msgspec.Struct, frozen=True):
    """A skill that was typed, or findings of language servers: one line, and opened its text."""

    id: int
    text: str
    more: str = ""


class Ending(msgspec.Struct, frozen=True):
    """The end of a turn: what it took, and why it stopped when it did not simply complete."""

    id: int
    stop: Stop
    message: str = ""
    usage: Usage = Usage()
    cost: float = 0.0
    ms: int = 0
    waited: int = 0  # milliseconds besides, that the person took to answer


# What opens to show more of itself.
FOLDED = (Said, Thought, ToolRun, Looked, AgentBlock, Rule, Invocation)
Item: TypeAlias = (
    Said
    | Prose
    | Thought
    | ToolRun
    | Looked
    | AgentBlock
    | Note
    | Shown
    | Rule
    | Invocation
    | Ending
)
