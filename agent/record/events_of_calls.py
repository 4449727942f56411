"""What happens to tool calls: judged, asked about, run, ended."""

from __future__ import annotations

from typing import ClassVar, Literal

from gatewright.agent.record.event_base import Event
from gatewright.tools.access import Does, Looks
from gatewright.tools.blocks import Block
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.judgement import Judgement
from gatewright.tools.protocol import Content, JsonObject


class ToolStarted(Event, frozen=True, tag="tool_started"):
    call_id: str
    name: str
    input: JsonObject
    verb: str
    target: str
    view: tuple[Block, ...] = ()
    looks: Looks = ""
    does: Does = ""  # what kind of call it is, by its facts
    paths: tuple[str, ...] = ()  # the first that it changes, else reads


class ToolProgressed(Event, frozen=True, tag="tool_progressed"):
    durable: ClassVar[bool] = False
    call_id: str
    tail: str
    size: int
    seconds: float
    movable: bool = False  # the person may send it to the background


class ToolFinished(Event, frozen=True, tag="tool_finished"):
    call_id: str
    ok: bool
    content: tuple[Content, ...]
    view: tuple[Block, ...] = ()
    data: JsonObject = {}
    summary: str = ""
    ms: int = 0


class Asked(Event, frozen=True, tag="asked"):
    id: int
    ask: Ask


class Answered(Event, frozen=True, tag="answered"):
    """`by` is who of several that look at the session; empty where it is shown in its process."""

    id: int
    answer: Answer
    by: str = ""


class Decided(Event, frozen=True, tag="decision"):
    """The gate's record of one call: which stage and rule allowed, denied or asked, and the end."""

    call_id: str
    tool: str
    target: str
    behavior: str  # what happened in the end: allow or deny
    stage: str
    reason: str
    rule: str = ""
    source: str = ""
    answer: str = ""  # what the person said, when asked
    ms: int = 0
    classifier: Judgement | None = None  # who judged it in a person's place


class CheckStarted(Event, frozen=True, tag="check_started"):
    """Whether the call is safe is being judged, and takes a while; `Decided` ends it."""

    durable: ClassVar[bool] = False
    call_id: str


class AutoChanged(Event, frozen=True, tag="auto_changed"):
    """Auto mode stands still: `paused` after too many refusals, `down` without verdicts, or not."""

    durable: ClassVar[bool] = False
    state: Literal["", "paused", "down"]


class DiagnosticsTold(Event, frozen=True, tag="diagnostics"):
    """What language servers found in what was just changed; `text` is what the model is told."""

    summary: str
    text: str
    errors: int = 0
    warnings: int = 0
    solved: int = 0
    files: tuple[str, ...] = ()


class LanguageServerStarted(Event, frozen=True, tag="language_server"):
    """A program that reads the project's code runs from now on."""

    name: str
    command: str
    root: str
    confined: bool = False


class SkillInvoked(Event, frozen=True, tag="skill_invoked"):
    """A skill is at work from here on; its text comes next, or as the result of the call."""

    name: str
    origin: str
    path: str
    arguments: int = 0  # how long they were
    files: int = 0  # beside its text
    call_id: str = ""  # of the model's call; empty: the person typed it
    carried: str = ""  # its text, over a summary: it was invoked before that

    def opens(self, text: str) -> bool:
        """Whether it is the text of this skill, as it goes before a line of the person."""
        return text.startswith(f'<skill name="{self.name}"')
