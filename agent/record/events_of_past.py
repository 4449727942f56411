"""What changes the past that counts: boundaries, branches, files as they were."""

from __future__ import annotations

import msgspec

from gatewright.agent.record.event_base import Event
from gatewright.agent.record.events_of_agents import AgentCost
from gatewright.agent.record.messages import Turn, Usage
from gatewright.tools.blocks import TodoItem


class Carried(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session was at a boundary, so that nothing before it has to be read again."""

    mode: str = ""
    model: str = ""
    effort: str = ""
    title: str = ""
    usage: Usage = Usage()
    cost: float = 0.0
    turns: int = 0
    todo: tuple[TodoItem, ...] = ()
    files: tuple[str, ...] = ()  # read or changed, the newest last
    worktree: str = ""  # the main agent works there; empty: in the person's checkout
    agents: tuple[AgentCost, ...] = ()  # what those that were started have used


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


class Snipped(Event, frozen=True, tag="snipped"):
    """The person cut these rounds out of what the model sees, and the results of these calls.

    It is all that is cut from here on, counted from the last boundary; `undo`: as before the last
    time. `tokens` became free.
    """

    rounds: tuple[int, ...] = ()
    results: tuple[str, ...] = ()
    tokens: int = 0
    undo: bool = False


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
