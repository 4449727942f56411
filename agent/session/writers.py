"""Where a session and its agents are written: one file each, begun by the first word."""

from __future__ import annotations

import time
from pathlib import Path

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
    if not start.on_disk:
        writer.copy(start.stored)
    return writer


def child_writer(base: Base, path: str) -> TranscriptWriter | None:
    """Of the agent with this path, beside what else the session keeps."""
    if base.around.options.no_session:
        return None
    file = agent_file(base.start.path, path)
    header = _header(base, file.stem, "")
    writer = TranscriptWriter(file, header, lock=TranscriptLock(), warn=base.warn)
    writer.agent = path
    return writer


def agent_file(session: Path, path: str) -> Path:
    """Where the agent with this path is written, beside the session's own file."""
    return session.with_suffix("") / "agents" / f"{path.replace('/', '.')}.jsonl"


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
