"""What happens to a session as a whole: begun, switched, named, moved, told."""

from __future__ import annotations

from typing import Any, ClassVar

from gatewright.agent.record.event_base import Event
from gatewright.agent.record.messages import Usage
from gatewright.tools.blocks import Tone


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


LENT = "project"


class ModeChanged(Event, frozen=True, tag="mode"):
    """One that is `LENT` to a run is not the session's: it is over with the run, or the process."""

    mode: str
    by: str  # user, model, plan, answer, settings, project


class ModelChanged(Event, frozen=True, tag="model"):
    model: str


class EffortChanged(Event, frozen=True, tag="effort"):
    """The person chose how much the model thinks in this session; empty: as settings say."""

    effort: str


class TitleChanged(Event, frozen=True, tag="title"):
    title: str


class QueueChanged(Event, frozen=True, tag="queue"):
    """Inputs waiting for their turn, oldest first; kept, so that no crash loses them."""

    texts: tuple[str, ...]


class Moved(Event, frozen=True, tag="moved"):
    """Later calls start in another directory: as it is shown, empty for the project's own."""

    durable: ClassVar[bool] = False
    where: str


class WorktreeChanged(Event, frozen=True, tag="worktree"):
    """The main agent works in this tree from now on; an empty path is the person's checkout.

    Either way it is in the directory `cwd` then.
    """

    path: str
    name: str = ""
    branch: str = ""
    cwd: str = ""


class DirectoryAdded(Event, frozen=True, tag="directory_added"):
    """A directory is open to the session besides the project's; `source` is who opened it."""

    durable: ClassVar[bool] = False
    path: str
    source: str  # slash_command, or the settings


class InstructionsLoaded(Event, frozen=True, tag="instructions_loaded"):
    """The model is told an instruction file; `trigger` is the file that led to it."""

    durable: ClassVar[bool] = False
    path: str
    kind: str  # user, shared, local, import
    reason: str  # session_start, nested_traversal, path_glob_match, include
    globs: tuple[str, ...] = ()
    trigger: str = ""
    parent: str = ""


class Unconfined(Event, frozen=True, tag="unconfined"):
    """Commands run outside the sandbox from now on, and why."""

    durable: ClassVar[bool] = False
    why: str


class Noticed(Event, frozen=True, tag="notice"):
    """Something the person should know; never sent to the model."""

    text: str
    tone: Tone = "normal"
    about: str = ""  # what calls the person, by the name that hooks of Notification know
    brief: str = ""  # the same in two words, where those and `/cost` are enough on a screen


class HookRan(Event, frozen=True, tag="hook"):
    """`message` is what the person should know: nothing of one that went well."""

    hook_event: str
    command: str
    outcome: str  # success, error, cancelled
    message: str = ""
    id: str = ""
    source: str = ""
    kind: str = ""
    call_id: str = ""
    exit: int | None = None
    ms: int = 0
    blocked: bool = False
    noted: str = ""  # for who judges later calls, unverified


class HookStarted(Event, frozen=True, tag="hook_started"):
    durable: ClassVar[bool] = False
    id: str
    hook_event: str
    command: str
    status: str = ""  # what the person reads while it runs, in place of its name
    call_id: str = ""
    waits: bool = True  # somebody waits for its answer


class HookAnswered(Event, frozen=True, tag="hook_answered"):
    """What it printed, before it is told how it went; only what was said at all.

    `terminal` is for the terminal of a screen: titles, notifications and bells.
    """

    durable: ClassVar[bool] = False
    id: str
    stdout: str
    stderr: str
    terminal: str = ""


class HooksSeen(Event, frozen=True, tag="hooks_seen"):
    """The person looked at them: what failed before is no news."""

    durable: ClassVar[bool] = False


class TasksChanged(Event, frozen=True, tag="tasks"):
    """Background work: what runs, one line each with its id first, and which has just ended."""

    durable: ClassVar[bool] = False
    running: tuple[str, ...]
    ended: str = ""
    status: str = ""  # how: "exit 0", "stopped", "failed"
    title: str = ""  # of what has ended
    tail: str = ""  # its last lines


class UsageChanged(Event, frozen=True, tag="usage"):
    """Sums of the whole session, and how full the window is."""

    durable: ClassVar[bool] = False
    usage: Usage
    cost: float
    context: int
    window: int


class UnknownEvent(Event, frozen=True, tag="unknown"):
    """Written by a newer version: kept as it is, acted on by nobody."""

    raw: dict[str, Any]
