"""Everything that happens in a session, as past-tense facts in plain values.

The class says whether an event is kept (`durable`). The transcript, the model's history and the
screen are all folds over these; adding one needs a case in each fold, which the type checker finds.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import msgspec

from gatewright.agent.errors import FailureKind
from gatewright.agent.record.messages import AssistantPart, Turn, Usage
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import Block, TodoItem, Tone
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import Content, JsonObject


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    durable: ClassVar[bool] = True


class SessionStarted(Event, frozen=True, tag="session_started"):
    """A process began or resumed working on the session."""

    model: str
    mode: str
    cwd: str
    app: str
    trusted: bool = True  # the project's own configuration counts
    tools: tuple[str, ...] = ()
    resumed: bool = False
    branch: str = ""


class UserMessage(Event, frozen=True, tag="user"):
    """`hidden` text is for the model only: notices, re-injected state."""

    content: tuple[Content, ...]
    input_id: str = ""
    hidden: bool = False


class AssistantMessage(Event, frozen=True, tag="assistant"):
    id: str
    model: str
    parts: tuple[AssistantPart, ...]
    usage: Usage = Usage()
    cost: float = 0.0
    cut: bool = False  # the stream was interrupted: what came is kept


class ToolStarted(Event, frozen=True, tag="tool_started"):
    call_id: str
    name: str
    input: JsonObject
    verb: str
    target: str
    view: tuple[Block, ...] = ()


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
    id: int
    answer: Answer


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


class Carried(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session was at a boundary, so that nothing before it has to be read again."""

    mode: str = ""
    model: str = ""
    title: str = ""
    usage: Usage = Usage()
    cost: float = 0.0
    turns: int = 0
    todo: tuple[TodoItem, ...] = ()
    files: tuple[str, ...] = ()  # read or changed, the newest last


class Compacted(Event, frozen=True, tag="compacted"):
    """History before this point is replaced by `summary` in what the model sees.

    `opening` is the summary with everything that is put back beside it, `turns` the newest part
    kept as it was, `words` what the person said so far and is still remembered, oldest first.
    """

    summary: str
    trigger: str
    tokens_before: int
    tokens_after: int = 0
    opening: str = ""
    turns: tuple[Turn, ...] = ()
    words: tuple[str, ...] = ()
    carried: Carried = Carried()
    usage: Usage = Usage()
    cost: float = 0.0


class Cleared(Event, frozen=True, tag="cleared"):
    """The person began anew: nothing before this point is sent to the model."""

    carried: Carried = Carried()


class ResultsCleared(Event, frozen=True, tag="results_cleared"):
    """Old tool results that the model sees as placeholders from now on; `tokens` became free."""

    call_ids: tuple[str, ...]
    tokens: int = 0


class ImagesDropped(Event, frozen=True, tag="images_dropped"):
    """A provider refused an image: from now on the model reads a note in place of each so far."""

    reason: str = ""


class Rewound(Event, frozen=True, tag="rewound"):
    """The conversation went back to the event `to`, empty for the beginning: this is a new branch.

    `left` was the end of the branch that was left; going back there undoes this. `text` is the
    input it went back to, ready to be edited and sent again.
    """

    to: str
    left: str
    text: str = ""
    carried: Carried = Carried()


class ModeChanged(Event, frozen=True, tag="mode"):
    mode: str
    by: str  # user, model, plan


class ModelChanged(Event, frozen=True, tag="model"):
    model: str


class TitleChanged(Event, frozen=True, tag="title"):
    title: str


class FileState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file at one moment; an empty hash: it did not exist. `left` says that it was not kept."""

    path: str
    hash: str = ""
    mode: int = 0
    left: str = ""


class FileSaved(Event, frozen=True, tag="file_snapshot"):
    """A file as it was before a turn first changed it, or a `line` the person added to one."""

    state: FileState
    line: str = ""


class TreeSaved(Event, frozen=True, tag="tree_snapshot"):
    """The project as it was before a command, and with `after` at the end of that turn."""

    tree: str
    after: bool = False
    left: tuple[str, ...] = ()  # what is too large to be kept


class FilesRestored(Event, frozen=True, tag="files_restored"):
    """Files were put back to how they were before `to`; `files` is how they were until then."""

    to: str
    files: tuple[FileState, ...]


class AgentStarted(Event, frozen=True, tag="agent_started"):
    child: str
    kind: str
    prompt: str


class AgentFinished(Event, frozen=True, tag="agent_finished"):
    child: str
    ok: bool
    report: str


class HookRan(Event, frozen=True, tag="hook"):
    hook_event: str
    command: str
    outcome: str
    message: str = ""


class Noticed(Event, frozen=True, tag="notice"):
    """Something the person should know; never sent to the model."""

    text: str
    tone: Tone = "normal"


class TurnStarted(Event, frozen=True, tag="turn_started"):
    durable: ClassVar[bool] = False


class TurnEnded(Event, frozen=True, tag="turn_ended"):
    """Exactly one per turn. `usage` and `cost` are the turn's sums, `requests` its round trips.

    `failure` is the kind of provider error that ended it: whether trying again can help.
    """

    stop: Stop
    message: str = ""  # what the person should know when it did not simply complete
    failure: FailureKind | None = None
    usage: Usage = Usage()
    cost: float = 0.0
    requests: int = 0
    ms: int = 0
    api_ms: int = 0


class TextDelta(Event, frozen=True, tag="text_delta"):
    durable: ClassVar[bool] = False
    text: str


class ThinkingDelta(Event, frozen=True, tag="thinking_delta"):
    durable: ClassVar[bool] = False
    text: str


class InputDelta(Event, frozen=True, tag="input_delta"):
    """A piece of a tool call's JSON while it streams; `name` is always known."""

    durable: ClassVar[bool] = False
    call_id: str
    name: str
    json: str


class MessageDropped(Event, frozen=True, tag="message_dropped"):
    """What streamed of the current message is void: the request is tried again."""

    durable: ClassVar[bool] = False


class ToolProgressed(Event, frozen=True, tag="tool_progressed"):
    durable: ClassVar[bool] = False
    call_id: str
    tail: str
    size: int
    seconds: float
    movable: bool = False  # the person may send it to the background


class UsageChanged(Event, frozen=True, tag="usage"):
    """Sums of the whole session, and how full the window is."""

    durable: ClassVar[bool] = False
    usage: Usage
    cost: float
    context: int
    window: int


class RetryScheduled(Event, frozen=True, tag="retry"):
    durable: ClassVar[bool] = False
    attempt: int
    attempts: int
    seconds: float
    reason: str


class StreamSilent(Event, frozen=True, tag="silent"):
    """The model has sent nothing for a while; at `limit` seconds the request is given up."""

    durable: ClassVar[bool] = False
    seconds: float
    limit: float


class QueueChanged(Event, frozen=True, tag="queue"):
    """Inputs waiting for their turn, oldest first; kept, so that no crash loses them."""

    texts: tuple[str, ...]


class Moved(Event, frozen=True, tag="moved"):
    """Later calls start in another directory: as it is shown, empty for the project's own."""

    durable: ClassVar[bool] = False
    where: str


class Unconfined(Event, frozen=True, tag="unconfined"):
    """Commands run outside the sandbox from now on, and why."""

    durable: ClassVar[bool] = False
    why: str


class TasksChanged(Event, frozen=True, tag="tasks"):
    """Background work: what runs, one line each with its id first, and which has just ended."""

    durable: ClassVar[bool] = False
    running: tuple[str, ...]
    ended: str = ""
    status: str = ""  # how: "exit 0", "stopped", "failed"


class UnknownEvent(Event, frozen=True, tag="unknown"):
    """Written by a newer version: kept as it is, acted on by nobody."""

    raw: dict[str, Any]


AnyEvent: TypeAlias = (
    SessionStarted
    | UserMessage
    | AssistantMessage
    | ToolStarted
    | ToolFinished
    | Asked
    | Answered
    | Decided
    | Compacted
    | Cleared
    | ResultsCleared
    | ImagesDropped
    | Rewound
    | ModeChanged
    | ModelChanged
    | TitleChanged
    | FileSaved
    | TreeSaved
    | FilesRestored
    | AgentStarted
    | AgentFinished
    | HookRan
    | Noticed
    | TurnStarted
    | TurnEnded
    | TextDelta
    | ThinkingDelta
    | InputDelta
    | MessageDropped
    | ToolProgressed
    | UsageChanged
    | RetryScheduled
    | StreamSilent
    | QueueChanged
    | Moved
    | Unconfined
    | TasksChanged
    | UnknownEvent
)


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """An event with its place: `seq` counts within the process, `parent` is the branch."""

    seq: int
    uuid: str
    parent: str
    timestamp: float
    agent: str
    event: AnyEvent
