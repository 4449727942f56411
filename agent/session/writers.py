"""Where a session and its agents are written: one file each, begun by the first word."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.record import codec as wire
from gatewright.agent.session.start.base import Base
from gatewright.agent.transcript.writer import TranscriptLock, TranscriptWriter
from gatewright.agent.version import VERSION


def session_writer(base: Base) -> TranscriptWriter | None:
    """None where nothing is to be left behind."""
    around, start = base.around, base.start
    if around.options.no_session:
        return None
    lock = TranscriptLock()
    if start.on_disk:
        lock.take(start.path)
    header = _header(base, start.id, start.forked_from)
    sync = around.settings.sync_sessions
    writer = TranscriptWriter(start.path, header, lock=lock, warn=base.warn, sync=sync)
    writer.known = start.on_disk
    if not start.on_disk:
        writer.copy(start.stored)
    return writer


class Barriers:
    """By agent: when it returns, everything that agent said so far has been handed to the disk."""

    def __init__(self) -> None:
        self._of: dict[str, Callable[[], Awaitable[None]]] = {}

    async def __call__(self, agent: str) -> None:
        if (barrier := self._of.get(agent)) is not None:
            await barrier()

    def add(self, agent: str, barrier: Callable[[], Awaitable[None]]) -> None:
        self._of[agent] = barrier

    def drop(self, agent: str) -> None:
        self._of.pop(agent, None)


def agents_folder(base: Base) -> Path:
    """Where the conversations of its agents are, one file each, named by their ids."""
    return agent_file(base.start.path, "").parent


def agents_before(base: Base) -> Path:
    """Where those of the session are that it goes on from: a copy's are another's at first."""
    return agent_file(base.start.source or base.start.path, "").parent


def child_writer(
    base: Base, path: str, about: Mapping[str, str], folder: Path | None = None
) -> TranscriptWriter | None:
    """Of the agent with this path, beside what else the session keeps, or in that folder."""
    if base.around.options.no_session:
        return None
    id = path.rpartition("/")[2]
    header = replace(_header(base, id, ""), agent={"path": path, **about})
    file = agent_file(base.start.path, path)
    if folder is not None:
        file = folder / file.name
    writer = TranscriptWriter(file, header, lock=TranscriptLock(), warn=base.warn)
    writer.agent = path
    return writer


def agent_file(session: Path, path: str) -> Path:
    """Where the agent with this path is written, beside the session's own file."""
    return session.with_suffix("") / "agents" / f"{path.rpartition('/')[2]}.jsonl"


async def nothing_to_keep() -> None:
    """The barrier of what is not stored."""


def _header(base: Base, id: str, forked_from: str) -> wire.Header:
    return wire.Header(
        version=wire.VERSION,
        id=id,
        cwd=str(base.around.where.cwd),
        created=time.time(),
        app=VERSION,
        forked_from=forked_from,
    )
