"""The tool protocol: all that gate, loop, MCP and skills know about tools. It does nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import msgspec

from gatewright.tools.access import MAIN, Access, Row, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.services import Planning, Searcher, Terminal, everything
from gatewright.tools.system.secrets import Secrets

if TYPE_CHECKING:
    from gatewright.tools.calls import Prepared
    from gatewright.tools.moments import Moments
    from gatewright.tools.textfiles import TextFiles

In = TypeVar("In")
JsonObject: TypeAlias = dict[str, Any]

RESULT_CAP = 30_000


class TextContent(msgspec.Struct, frozen=True, tag_field="kind", tag="text"):
    text: str


class ImageContent(msgspec.Struct, frozen=True, tag_field="kind", tag="image"):
    media_type: str
    data: str  # base64


class DocumentContent(msgspec.Struct, frozen=True, tag_field="kind", tag="document"):
    media_type: str
    data: str  # base64
    name: str = ""


Content: TypeAlias = TextContent | ImageContent | DocumentContent


class RawImage(msgspec.Struct, frozen=True):
    """An image as it came, as bytes or base64; who runs the tool makes it fit for a model.

    With a name, a line of its own says what it is; `path` is where people may look at it.
    """

    data: bytes | str
    name: str = ""
    path: str = ""


class RawFile(msgspec.Struct, frozen=True):
    """Bytes that are nothing for a model: kept in a file, which the result names behind `said`."""

    data: bytes
    said: str
    kind: str = "file"


Part: TypeAlias = Content | RawImage | RawFile
View: TypeAlias = tuple[Block, ...]


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a model sees it; `schema` is trimmed JSON Schema."""

    name: str
    description: str
    schema: JsonObject


class ToolCall(msgspec.Struct, frozen=True):
    id: str
    name: str
    input: JsonObject

    def with_input(self, input: JsonObject) -> ToolCall:
        return ToolCall(self.id, self.name, input)


NOT_RUN, REFUSED = "not run", "refused"  # the summaries of what had no effect
# What an interruption leaves of a call, by how far it had come.
NOT_BEGUN = "Not run: the turn was interrupted before it began."
INTERRUPTED = "Interrupted before it finished. Whether it had any effect is not known."


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """`content` is for the model, `view` for people, `data` for hooks and JSON output.

    A tool with images or files gives `parts`, of which who runs it makes content. `summary` is the
    outcome in a few words; `ends_turn` gives control back to the person after this call, and one
    that `completes` was the whole answer.
    """

    ok: bool
    content: tuple[Content, ...] = ()
    parts: tuple[Part, ...] = ()
    view: View = ()
    data: JsonObject = {}
    summary: str = ""
    ends_turn: bool = False
    completes: bool = False
    stopped: str = ""  # somebody who listens ended the turn, and why
    barred: str = ""  # the turn ends as a failure: too much was refused, and nobody is there
    waits: bool = False  # not judged yet: the call stays open until the session goes on
    cap: int = RESULT_CAP  # characters; text beyond goes to a file

    @classmethod
    def text(
        cls, text: str, *, summary: str = "", data: JsonObject | None = None, view: View = ()
    ) -> ToolResult:
        content = (TextContent(text),)
        return cls(ok=True, content=content, view=view, summary=summary, data=data or {})

    @classmethod
    def failed(cls, message: str, *, summary: str = "failed", shown: str = "") -> ToolResult:
        return cls(
            ok=False,
            content=(TextContent(message),),
            view=(Text(shown or message, "error"),),
            summary=summary,
        )

    @classmethod
    def not_run(cls, message: str) -> ToolResult:
        return cls.failed(message, summary=NOT_RUN)

    @classmethod
    def interrupted(cls) -> ToolResult:
        return cls.failed(INTERRUPTED, summary="interrupted")

    @classmethod
    def refused(cls, message: str, *, ends_turn: bool = False, stopped: str = "") -> ToolResult:
        return cls(
            ok=False,
            content=(TextContent(message),),
            view=(Text(message, "dim"),),  # maybe the person's own words: no alarm
            summary=REFUSED,
            ends_turn=ends_turn or bool(stopped),
            stopped=stopped,
        )


class Progress(msgspec.Struct, frozen=True):
    """News from a running call: its last lines, and how much and how long so far."""

    tail: str
    size: int = 0
    seconds: float = 0.0
    movable: bool = False  # the person may send it to the background now


Run: TypeAlias = AsyncIterator[Progress | ToolResult]  # of a call: its news, and at last its result


class ToolFailure(Exception):
    """The one exception a tool may raise; its text is written for the model.

    `shown` is what people read where its own paths do not do, `summary` the outcome in a few words.
    """

    def __init__(self, text: str, *, shown: str = "", summary: str = "failed") -> None:
        super().__init__(text)
        self.shown, self.summary = shown, summary

    def result(self, where: Where) -> ToolResult:
        shown = self.shown or where.told(str(self))
        return ToolResult.failed(str(self), summary=self.summary, shown=shown)


class SpawnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A child process, a group and session of its own. Its input is empty, or `stdin`; stderr joins
    the output, or goes to `errors`. It starts in `at` where that is open: `cwd` only names it then.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    at: int = -1
    stdin: int = -1
    errors: int = -1
    leaves: bool = False  # what it leaves behind is the person's own, and lives on
    dies_with_us: bool = False  # ended by the kernel if we are killed, where there is such a thing
    fds: tuple[int, ...] = ()  # descriptors the child inherits under the same numbers
    memory: int = 0  # bytes of its own that it may take, where the system has such a limit
    ended: Callable[[], None] | None = None  # called once: nothing of it is left, or none started
    start: Callable[[Callable[[], Any]], Any] | None = None  # begins it, in a thread of its own
    script: bool = False  # the last of `argv` is a bash script: one that waits may be given it
    begun: Callable[[], Awaitable[Any]] | None = None  # it was started before, and goes on now
    over: Callable[[], bool] | None = None  # asked at its end: surely nothing of it is left


class Child(Protocol):
    """A running child process group."""

    @property
    def pid(self) -> int: ...
    @property
    def code(self) -> int | None:
        """The exit status of the direct child once that is gone, whatever of its group is left."""
        ...

    async def read(self) -> bytes:
        """The next chunk of output; empty at the end or once the direct child is gone."""
        ...

    async def wait(self) -> int: ...
    async def kill(self, grace: float = 2.0) -> None:
        """TERM the whole group, KILL what is left after `grace` seconds, and reap it."""
        ...


class Confinement(Protocol):
    """An OS sandbox profile, already decided: rewrites a process before it is started."""

    def confine(self, request: SpawnRequest) -> SpawnRequest: ...


class Ledger(Protocol):
    """Remembers which bytes of which files the model has seen in this session."""

    def note(self, path: Path, content: bytes) -> None: ...
    def stale(self, path: Path, content: bytes) -> str:
        """Why a change must be refused ("not read yet", "changed since"), or an empty string."""
        ...

    def shown(self, path: Path, content: bytes, part: str) -> bool:
        """Whether the model still has this part of these very bytes from its last read; keeps it.
        A change through a tool (`note`) forgets what was shown.
        """
        ...

    def forget_shown(self) -> None:
        """The model no longer has what it was shown: compaction, clearing, going back."""
        ...


class Job(Protocol):
    """Work that outlives its call: a shell command, an agent, a workflow."""

    @property
    def kind(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def running(self) -> bool: ...
    def status(self) -> str:
        """ "running", or how it ended: "exit 0", "stopped", "failed"."""
        ...

    def news(self) -> str:
        """What it said since this was last called, bounded."""
        ...

    def output(self) -> str:
        """All it said so far, bounded, with a marker where the middle is missing."""
        ...

    def progress(self) -> Progress:
        """Its last lines, how much it said, and how long it runs or ran."""
        ...

    async def wait(self) -> None: ...
    async def stop(self) -> None: ...


class Jobs(Protocol):
    """Owns background jobs: tells their end exactly once and stops them with the session."""

    def adopt(self, job: Job) -> str:
        """Own the job from now on and return its id."""
        ...

    def find(self, id: str) -> Job | None: ...
    def running(self) -> Sequence[str]:
        """One line for each running job, its id first."""
        ...

    def foreground(self) -> AbstractContextManager[asyncio.Event]:
        """Entered while a call could go on in the background; set once the person wants that."""
        ...

    def told(self, id: str) -> None:
        """The model learns the end from a tool result: no notice any more."""
        ...

    async def wait(self, id: str, seconds: float) -> None:
        """Wait for the end up to a limit; an end met here counts as told."""
        ...


Spawn: TypeAlias = Callable[[SpawnRequest], Awaitable[Child]]
Asker: TypeAlias = Callable[[Ask], Awaitable[Answer]]


def unheard(told: object) -> None:
    del told  # nobody keeps what an interrupted call leaves, nor tells how long it stood


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """The ports a running call may use; there is no other way to the outside."""

    where: Where
    ledger: Ledger
    spawn: Spawn
    ask: Asker
    progress: Callable[[Progress], None]
    move: Callable[[Path], None]  # the shell changed directory: later calls start there
    env: Mapping[str, str]
    spill: Path  # directory for output beyond the cap
    state: Path | None = None  # directory for what tools keep with the session
    real: Mapping[Path, Path] = {}  # where the judged paths led, links followed, when decided
    agent: str = MAIN
    call_id: str = ""
    confinement: Confinement | None = None
    readable: Callable[[str], bool] = everything  # False: a rule denies reading, so no search hit
    leave: Callable[[ToolResult], None] = unheard  # interrupted: what there is so far
    stood: Callable[[float], None] = unheard  # seconds until a question was put
    jobs: Jobs | None = None  # without it nothing runs in the background
    planning: Planning | None = None
    searcher: Searcher | None = None
    complete: Callable[[str], Awaitable[str]] | None = None  # a small model's answer, or ""
    secrets: Secrets = Secrets()  # which variables of `env` a command does not get
    private_hosts: tuple[str, ...] = ()  # names that may answer with a private address
    terminal: Terminal | None = None  # of an editor, for commands that nothing confines
    files: TextFiles | None = None  # where the text of files is held; without one the disk
    moments: Moments | None = None  # who may speak at the points of a call

    def judged(self, real: Mapping[Path, Path], readable: Callable[[str], bool]) -> ToolContext:
        """With what the gate knew when it decided."""
        return msgspec.structs.replace(self, real=real, readable=readable)

    def asking(self, ask: Asker) -> ToolContext:
        return msgspec.structs.replace(self, ask=ask)

    def confined(self, confinement: Confinement | None) -> ToolContext:
        return msgspec.structs.replace(self, confinement=confinement)


class Tool(Protocol[In]):
    """One tool, one file. `access` and `title` are pure; failures are `ToolFailure`.

    `tools/plain.py` has all of it but a name, an input and `run`.
    """

    @property
    def name(self) -> str: ...
    @property
    def time_limit(self) -> float | None:
        """Seconds it may take, `math.inf` for as long as it likes; None is the usual limit."""
        ...

    @property
    def row(self) -> Row | None:
        """How rules speak of it; None for one that they can only name, and the built-in ones."""
        ...

    def read(self, raw: JsonObject) -> In:
        """The input, checked; ToolFailure says to the model what is wrong with it."""
        ...

    def access(self, input: In, where: Where) -> Access: ...
    def title(self, input: In, where: Where) -> tuple[str, str]:
        """Verb and target of the one-line summary: ("Read", "src/a.py")."""
        ...

    def run(self, input: In, ctx: ToolContext) -> Run: ...
    def view(self, input: In, result: ToolResult | None) -> Sequence[Block]:
        """What people see; `result` is None before it ran."""
        ...


class Executor(Protocol):
    """How the loop runs tools. Neither method raises anything but CancelledError."""

    async def prepare(self, call: ToolCall, where: Where) -> Prepared:
        """The call read and described, once; what cannot be read says so in its facts."""
        ...

    async def run(self, prepared: Prepared, ctx: ToolContext) -> ToolResult: ...


class ToolSource(Protocol):
    """Where tools come from: the built-in registry, an MCP server, the skill catalogue."""

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        """What is offered; the short form is for models with little room."""
        ...

    def find(self, name: str) -> Tool[Any] | None:
        """May import the tool's module: call it off the event loop the first time."""
        ...
