"""Going back to an earlier input: the conversation, the files, or both; all of it can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from gatewright.agent.errors import SessionError
from gatewright.agent.history.history import History
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Compacted,
    Envelope,
    FileSaved,
    FilesRestored,
    Rewound,
    TreeSaved,
    UserMessage,
)
from gatewright.agent.session.frame import Frame
from gatewright.tools.protocol import TextContent

if TYPE_CHECKING:
    from gatewright.agent.history.plan import Step
    from gatewright.agent.history.restore import Restored


What: TypeAlias = Literal["both", "talk", "code"]
RECORDS = (FileSaved, TreeSaved, FilesRestored)


class Point(msgspec.Struct, frozen=True):
    """An input one can go back to, with how much was changed behind it until the next one."""

    id: str
    text: str
    time: float
    files: int


class Gone(msgspec.Struct, frozen=True):
    """What going back did."""

    text: str = ""  # the input, to be edited and sent again
    restored: Restored | None = None
    left: tuple[Step, ...] = ()
    unknown: str = ""  # what else may have been changed, and was not put back


class Rewinder:
    """Used while no turn runs: the session sees to that."""

    def __init__(self, frame: Frame, history: History | None) -> None:
        self._frame = frame
        self._history = history
        self._hub = frame.journal.hub()
        self._left: dict[str, Sequence[Envelope]] = {}  # the branch left last, for want of a file

    def points(self) -> list[Point]:
        """The inputs since the last boundary, oldest first."""
        points: list[Point] = []
        changed: set[str] = set()
        for envelope in reversed(self._mine()):
            event = envelope.event
            if isinstance(event, FileSaved) and not event.line:
                changed.add(event.state.path)
            elif isinstance(event, UserMessage) and not event.hidden:
                point = Point(envelope.uuid, _text(event), envelope.timestamp, len(changed))
                points.append(point)
                changed = set()
        return points[::-1]

    async def plan(self, to: str) -> list[Step]:
        """What would happen to the files."""
        _, after = self._split(to)
        history = self._history
        return await history.plan([e.event for e in after]) if history else []

    async def go(self, to: str, what: What) -> Gone:
        """Raises SessionError when there is no such input."""
        before, after = self._split(to)
        steps: list[Step] = []
        restored = None
        if what != "talk" and (history := self._history) is not None:
            steps = await history.plan([envelope.event for envelope in after])
            restored = await history.restore(steps)
        text = ""
        if what != "code":
            text = _text(after[0].event)
            self._branch_off(before, text)
            for envelope in after:
                if _stays(envelope.event, restored=restored is not None):
                    self._frame.journal.publish(envelope.event)
        if restored is not None and restored.undo:
            self._frame.journal.publish(FilesRestored(to=to, files=restored.undo))
        left = tuple(step for step in steps if step.kind == "leave")
        return Gone(text, restored, left, self.unknown if restored is not None else "")

    @property
    def unknown(self) -> str:
        return self._history.unknown if self._history is not None else ""

    async def undo(self) -> Gone:
        """Take back what went back last, or the last summary. Raises SessionError."""
        files, branch, lines = self._last()
        restored = None
        left: tuple[Step, ...] = ()
        if files is not None and (history := self._history) is not None:
            steps = await history.plan([files, *lines])
            left = tuple(step for step in steps if step.kind == "leave")
            restored = await history.restore(steps)
        if branch:
            self._branch_off(self._read(branch), "")
        if restored is not None and restored.undo:
            self._frame.journal.publish(FilesRestored(to="", files=restored.undo))
        return Gone("", restored, left)

    def _last(self) -> tuple[FilesRestored | None, str, list[AnyEvent]]:
        """What can be undone: the newest restore and the end of the branch to go on with.

        Last come the lines that the person has added since.
        """
        lines: list[AnyEvent] = []
        files: FilesRestored | None = None
        said = False
        for envelope in reversed(self._mine()):
            match envelope.event:
                case Compacted():  # a summary can be taken back at any time
                    return None, envelope.parent, lines
                case FileSaved(line=line) as event if line:
                    lines.append(event)
                case FilesRestored() as event if files is None and not said:
                    files = event
                case Rewound(left=left) if not said:
                    return files, left, lines
                case UserMessage() | AssistantMessage():
                    if files is not None:
                        break
                    said = True
                case _:
                    continue
        if files is None:
            raise SessionError("There is nothing to undo.")
        return files, "", lines

    def _mine(self) -> Sequence[Envelope]:
        return self._hub.kept()

    def _split(self, to: str) -> tuple[Sequence[Envelope], Sequence[Envelope]]:
        kept = self._hub.kept()
        for index, envelope in enumerate(kept):
            if envelope.uuid == to and isinstance(envelope.event, UserMessage):
                before = kept[:index]
                whole = bool(before) and _begins(before[0])
                if not whole and envelope.parent:
                    before = self._read(envelope.parent)
                return before, kept[index:]
        raise SessionError("There is no such message to go back to.")

    def _read(self, to: str) -> Sequence[Envelope]:
        from gatewright.agent.transcript.reader import read_transcript  # noqa: PLC0415  lazy: 1 ms

        if (left := self._left.get(to)) is not None:
            return left
        path = self._frame.transcript
        if path is None:
            raise SessionError("This session is not stored, and that part of it is gone.")
        return read_transcript(path, to=to).branch

    def _branch_off(self, branch: Sequence[Envelope], text: str) -> None:
        left = self._hub.leaf
        self._left = {left: tuple(self._hub.kept())}
        self._hub.go_back(branch)
        self._frame.talk.rebuild(envelope.event for envelope in branch)
        self._frame.ledger.forget_shown()
        to = branch[-1].uuid if branch else ""
        self._frame.journal.publish(Rewound(to=to, left=left, text=text))


def _stays(event: AnyEvent, *, restored: bool) -> bool:
    """Whether a record still holds on the new branch: the person's own lines always do."""
    if not restored:  # the files still are as the left branch made them
        return isinstance(event, RECORDS)
    return isinstance(event, FileSaved) and bool(event.line)


def _begins(envelope: Envelope) -> bool:
    return not envelope.parent or isinstance(envelope.event, Compacted | Cleared)


def _text(event: AnyEvent) -> str:
    if not isinstance(event, UserMessage):
        return ""
    return "\n".join(part.text for part in event.content if isinstance(part, TextContent))
