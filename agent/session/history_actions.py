"""What a session can do with its own past: summarise it, go back in it, name it, write it out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gatewright.agent.compact import grid
from gatewright.agent.compact.compactor import CompactPorts, budget_of
from gatewright.agent.errors import SessionError
from gatewright.agent.history.history import History
from gatewright.agent.record.events import Compacted, Noticed, Snipped, TitleChanged
from gatewright.agent.session.agent import Agent
from gatewright.agent.session.frame import Frame
from gatewright.agent.text.redact import Redactor
from gatewright.tools.blocks import Block

if TYPE_CHECKING:
    from gatewright.agent.compact.keep import Kept
    from gatewright.agent.compact.snipping import Round
    from gatewright.agent.history.plan import Step
    from gatewright.agent.session.review import Review
    from gatewright.agent.session.rewind import Gone, Point, Rewinder, What
    from gatewright.agent.transcript.index import Listed


TITLE_LIMIT = 100


class Past:
    """Works on what the main agent said and did; `history` is that of its files, where known."""

    def __init__(self, frame: Frame, history: History | None, agent: Agent) -> None:
        self._frame = frame
        self._agent = agent
        self._compactor = agent.compactor
        self._history = history
        self._listed: dict[Path, Listed] = {}  # what is known of other sessions, by their files

    @cached_property
    def _rewinder(self) -> Rewinder:
        from gatewright.agent.session.rewind import Rewinder  # noqa: PLC0415  lazy: 1 ms

        history = self._history
        return Rewinder(self._frame, history if history is not None and history.keeping else None)

    @cached_property
    def review(self) -> Review | None:
        """What changed."""
        if self._history is None:
            return None
        from gatewright.agent.session.review import Review  # noqa: PLC0415  lazy: 2 ms

        return Review(self._history, self._frame.journal.hub().kept)

    async def compact(self, instructions: str = "") -> Compacted:
        """Summarise now. Raises GatewrightError."""

        async def work() -> Compacted:
            return await self._compactor.compact(await self._agent.needed(), instructions)

        return await self._agent.runner.alone(work)

    async def preview(self) -> Kept:
        """What a summary would keep as it is."""
        return self._compactor.preview(await self._agent.needed())

    async def window(self) -> tuple[grid.Usage, str]:
        """Where the tokens are, and the model's name."""
        model = await self._agent.needed()
        size, budget = self._compactor.size(model), budget_of(model)
        return grid.window_use(model, self._frame.talk.view(), size, budget), model.name

    async def context(self) -> Sequence[Block]:
        usage, name = await self.window()
        return grid.blocks(usage, name)

    def points(self) -> list[Point]:
        """The inputs one can go back to, oldest first."""
        return self._rewinder.points()

    async def plan(self, to: str) -> list[Step]:
        """What going back to before this input would do to the files."""
        return await self._rewinder.plan(to)

    @property
    def unknown(self) -> str:
        """What of the files going back cannot know of."""
        return self._rewinder.unknown

    async def go_back(self, to: str, what: What = "both") -> Gone:
        """Raises SessionError."""

        async def work() -> Gone:
            await self._frame.barrier()
            return await self._rewinder.go(to, what)

        return await self._agent.runner.alone(work)

    async def undo(self) -> Gone:
        """Take back the last going back or summary. Raises SessionError."""

        async def work() -> Gone:
            await self._frame.barrier()
            return await self._rewinder.undo()

        return await self._agent.runner.alone(work)

    async def rounds(self) -> Sequence[Round]:
        """What can be cut out of the model's view."""
        from gatewright.agent.compact.snipping import rounds_of  # noqa: PLC0415  lazy: 1 ms

        return rounds_of(self._frame.talk)

    async def snip(self, wish: str) -> Snipped:
        """Cut rounds, or results of calls, out of the model's view. Raises SessionError."""
        from gatewright.agent.compact.snipping import snipped  # noqa: PLC0415  lazy: 1 ms

        async def work() -> Snipped:
            event = snipped(self._frame.talk, wish)
            self._agent.publish(event)
            self._frame.ledger.forget_shown()
            return event

        return await self._agent.runner.alone(work)

    @property
    def id(self) -> str:
        return self._frame.id

    @property
    def file(self) -> Path | None:
        """Where it is written; None where nothing is kept."""
        return self._frame.writer.path if self._frame.writer is not None else None

    def rename(self, title: str) -> str:
        """Returns the title as it is kept."""
        title = " ".join(title.split())[:TITLE_LIMIT]
        self._agent.publish(TitleChanged(title=title))
        return title

    async def sessions(self) -> list[Listed]:
        """The other sessions of this directory, newest first."""
        from gatewright.agent.transcript.index import list_sessions  # noqa: PLC0415  lazy: 1 ms

        folder = self._frame.folder
        if folder is None:
            return []
        found = await asyncio.to_thread(list_sessions, folder, known=self._listed)
        return [listed for listed in found if listed.id != self._frame.id]

    def note(self, text: str) -> None:
        """Tell the person, here and whenever they come back."""
        self._agent.publish(Noticed(text=text, tone="dim"))

    async def elsewhere(self, wanted: str) -> Listed | None:
        """The session of another directory that is meant. Raises SessionError: none, or many."""
        from gatewright.agent.transcript.index import describe, find_session  # noqa: PLC0415  lazy: 1 ms

        folder = self._frame.folder
        if folder is None:
            return None
        return describe(await asyncio.to_thread(find_session, folder, wanted))

    async def stored(self) -> Listed | None:
        """This session as it is on the disk now; None: nothing is."""
        from gatewright.agent.transcript.index import describe  # noqa: PLC0415  lazy: 1 ms

        path = self._frame.transcript
        if path is None or not path.exists():
            return None
        await self._frame.barrier()
        return await asyncio.to_thread(describe, path)

    async def export(self, format: str, target: str) -> Path:
        """Write the session to a file; returns where. Raises SessionError."""
        stored = self._frame.transcript
        if stored is None or not stored.exists():
            raise SessionError("There is nothing to write out: this session is not stored yet.")
        await self._frame.barrier()
        path = self._frame.where.cwd / (target or f"session-{self._frame.id[:8]}.{format}")
        if path.exists():
            raise SessionError(f"{path} exists. Give another name: /export {format} NAME")
        await asyncio.to_thread(_write, stored, path, format, self._frame.redactor)
        return path


def compact_ports(frame: Frame) -> CompactPorts:
    return CompactPorts(
        talk=frame.talk,
        emit=frame.journal.publish,
        state=frame.remains,
        forget=frame.ledger.forget_shown,
        clock=frame.clock,
        automatic=frame.auto_compact,
        listeners=frame.listeners,
    )


def _write(stored: Path, path: Path, format: str, redactor: Redactor) -> None:
    from gatewright.agent.transcript.export import FORMATS, Format, export  # noqa: PLC0415  lazy: 8 ms
    from gatewright.agent.transcript.reader import branch_of, read_transcript  # noqa: PLC0415

    if format not in FORMATS:
        raise SessionError(f"/export takes one of {', '.join(FORMATS)}.")
    header = read_transcript(stored).header
    try:
        with path.open("x", encoding="utf-8") as out:
            out.writelines(export(header, branch_of(stored), cast("Format", format), redactor))
    except OSError as error:
        raise SessionError(f"{path} cannot be written: {error.strerror}.") from error
