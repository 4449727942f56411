"""What the screen knows at one moment, and the changes its transcript goes through. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from gatewright.agent.record.events import SkillInvoked
from gatewright.agent.record.messages import Usage
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import TodoItem
from gatewright.tools.interact import Ask
from gatewright.tui.agents.known import Agents
from gatewright.tui.transcript.items import Invocation, Item, Looked, Note, Prose, Thought, ToolRun


class Pending(msgspec.Struct, frozen=True):
    """A question waiting for the person; of another agent with its task.

    Its agent waits `since`, perhaps behind others; it was `put` when its turn had come.
    """

    id: int
    ask: Ask
    agent: str
    path: str = MAIN
    task: str = ""
    put: float = 0.0
    since: float = 0.0

    @property
    def called(self) -> str:
        """What a person who looks elsewhere is told of it."""
        return self.ask.title if self.path == MAIN else f"{self.agent}: {self.ask.title}"


class Worker(NamedTuple):
    """An agent of a workflow's run, which has no row: what it is at, and since when it asks."""

    label: str
    task: str = ""
    asks_since: float = 0.0
    run: str = ""


class Hooked(msgspec.Struct, frozen=True):
    """A hook that runs; `label` is its name, or what it says of itself."""

    id: str
    label: str
    since: float
    waits: bool = True  # something waits for it


class View(msgspec.Struct, frozen=True):
    """The state of the screen after some event."""

    path: str = MAIN  # whose screen it is
    mode: str = ""
    auto: str = ""  # how auto mode stands still: paused, or its judge is down
    model: str = ""
    cwd: str = ""
    moved: str = ""  # where commands run, if not there
    title: str = ""
    usage: Usage = Usage()
    cost: float = 0.0
    context: int = 0
    window: int = 0
    queue: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    jobs: frozenset[str] = frozenset()  # that will begin a turn by themselves, by their ids
    skills: tuple[tuple[SkillInvoked, Invocation], ...] = ()  # typed: their texts come
    ends: Note | None = None  # what was told last of work that has ended
    ultracode: bool = False  # the effort that lets the model start workflows
    confined: bool = True  # until it is known that commands are not
    asks: tuple[Pending, ...] = ()
    agents: Agents = {}  # by path, those that ended too
    workers: Mapping[str, Worker] = {}  # agents of workflows at work, by path
    agent_calls: dict[str, str] = {}  # calls that are agents, by their ids
    busy_since: float = 0.0  # 0: nothing runs
    doing: str = ""
    doing_since: float = 0.0  # 0: as long as the turn
    until: float = 0.0  # the next try of a request, `doing` then is why; 0: none waits
    tries: str = ""  # how many failed
    hooks: tuple[Hooked, ...] = ()  # those that run
    hook_failures: int = 0  # since the person looked at the hooks
    next_id: int = 1
    live: tuple[Prose | Thought, ...] = ()  # the message being streamed
    prose: tuple[str, tuple[int, ...]] = ("", ())  # the last message: its id, and its records
    tools: dict[str, ToolRun] = {}  # that run
    looks: tuple[Looked, ...] = ()  # records that calls may join, or belong to; the last one last
    todo: tuple[TodoItem, ...] = ()
    waited: float = 0.0  # seconds of this turn that the person took to answer
    remark: str = ""  # on what this turn cost
    written_before: int = 0  # tokens written before this turn

    @property
    def busy(self) -> bool:
        return self.busy_since > 0


class Appended(msgspec.Struct, frozen=True):
    item: Item


class Patched(msgspec.Struct, frozen=True):
    item: Item


class Removed(msgspec.Struct, frozen=True):
    id: int


class Emptied(msgspec.Struct, frozen=True):
    """The screen starts again."""


class Marked(msgspec.Struct, frozen=True):
    """Everything so far belongs to this event or an earlier one."""

    uuid: str


class Returned(msgspec.Struct, frozen=True):
    """The conversation went back to an event, of this branch or of one left before."""

    to: str


Change: TypeAlias = Appended | Patched | Removed | Emptied | Marked | Returned
Reduced: TypeAlias = tuple[View, tuple[Change, ...]]
