"""Appends a session's durable events to its file: one line each, never rewritten.

A write is one system call on the page cache, so `barrier` can promise that what was published is
out of this process. When the disk refuses, the lines wait in memory, the person is told once, and
every later write tries again.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from gatewright.agent import wire
from gatewright.agent.errors import SessionError
from gatewright.agent.events import Envelope, TitleChanged, TurnEnded, UserMessage
from gatewright.agent.hub import Subscription
from gatewright.agent.ids import new_id

UNSAVED_LIMIT = 64 * 1024 * 1024


class TranscriptWriter:
    """Owns the file from the first message on, or from its name on.

    A session that nobody spoke in or named leaves nothing behind.
    """

    def __init__(
        self,
        path: Path,
        header: wire.Header,
        *,
        lock: TranscriptLock,
        warn: Callable[[str], None],
        new_id: Callable[[], str] = new_id,
        sync: bool = False,
    ) -> None:
        self._path = path
        self._header = header
        self._lock = lock
        self._warn = warn
        self._new_id = new_id
        self._sync = sync
        self._file: int | None = None
        self._unsaved = bytearray()
        self._spoken = False
        self._failed = False

    def copy(self, stored: Sequence[Envelope]) -> None:
        """Begin with the events of another session; they too are written once somebody speaks."""
        for envelope in stored:
            self._unsaved += wire.encode(envelope, self._header.id)

    async def run(self, subscription: Subscription) -> None:
        """Write until the subscription is closed; owned by the session."""
        self._subscription = subscription
        while batch := await subscription.batch():
            self._take(batch)
            if self._sync and any(isinstance(item.event, TurnEnded) for item in batch):
                await asyncio.to_thread(self._fsync)

    async def barrier(self) -> None:
        """When this returns, everything published so far has been handed to the disk."""
        self._take(self._subscription.waiting())
        if self._sync:
            await asyncio.to_thread(self._fsync)

    @property
    def path(self) -> Path:
        return self._path

    def reopen(self) -> None:
        """Let go of the file; the next write opens it anew."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self._lock.release()

    def close(self) -> None:
        self._take(self._subscription.waiting())
        self.reopen()

    def _take(self, batch: list[Envelope]) -> None:
        for envelope in batch:
            if envelope.event.durable and envelope.agent == "main":
                self._unsaved += wire.encode(envelope, self._header.id)
                self._spoken = self._spoken or isinstance(
                    envelope.event, UserMessage | TitleChanged
                )
        if self._spoken and self._unsaved:
            self._write()

    def _write(self) -> None:
        try:
            if self._file is None:
                self._file = self._open()
            while self._unsaved:
                del self._unsaved[: os.write(self._file, self._unsaved)]
        except (OSError, SessionError) as error:
            self._complain(error)
        else:
            self._failed = False

    def _complain(self, error: Exception) -> None:
        if not self._failed:
            self._failed = True
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._warn(f"This session is not being saved: {reason} ({self._path}).")
        if len(self._unsaved) > UNSAVED_LIMIT:
            del self._unsaved[:]
            self._warn("Too much waits to be saved; earlier messages will be missing on resume.")

    def _open(self) -> int:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not self._lock.took(self._path):
            os.close(file)
            return self._open_copy()
        try:
            size = os.fstat(file).st_size
            if size == 0:
                self._put_header_first()
            else:
                self._set_torn_line_aside(file, size)
        except (OSError, SessionError):
            os.close(file)
            raise
        return file

    def _open_copy(self) -> int:
        """Another process writes to our file: what this one says is kept in a file of its own."""
        header = msgspec.structs.replace(
            self._header, id=self._new_id(), forked_from=self._header.id
        )
        self._warn(
            "Another process works on this session. What is said here is kept as a copy, "
            f"session {header.id}."
        )
        waiting = wire.encode_header(self._header)
        if self._unsaved.startswith(waiting):
            del self._unsaved[: len(waiting)]
        self._header = header
        self._path = self._path.with_name(f"{header.id}.jsonl")
        return self._open()

    def _put_header_first(self) -> None:
        header = wire.encode_header(self._header)
        if not self._unsaved.startswith(header):  # it may wait there from a write that failed
            self._unsaved[:0] = header

    def _set_torn_line_aside(self, file: int, size: int) -> None:
        """A crash can leave half a line at the end; the next one must not be glued to it."""
        tail = torn_tail(file, size)
        if not tail:
            return
        aside = self._path.with_suffix(".torn")
        with aside.open("ab") as out:
            out.write(tail + b"\n")
        os.ftruncate(file, size - len(tail))

    def _fsync(self) -> None:
        if self._file is not None:
            os.fsync(self._file)


def torn_tail(file: int, size: int) -> bytes:
    """What stands behind the last newline of the file."""
    tail = b""
    while size > 0:
        start = max(0, size - 65536)
        chunk = os.pread(file, size - start, start)
        cut = chunk.rfind(b"\n")
        if cut >= 0:
            return chunk[cut + 1 :] + tail
        tail, size = chunk + tail, start
    return tail


class TranscriptLock:
    """Keeps a second process off a transcript; the kernel drops it when this process dies."""

    def __init__(self) -> None:
        self._file: int | None = None

    def take(self, path: Path) -> None:
        """Raises SessionError when another process holds it."""
        if not self.took(path):
            raise SessionError(
                "another process works on this session; close it there, "
                "or go on in a copy with --fork-session"
            )

    def took(self, path: Path) -> bool:
        """Take it unless another process holds it."""
        if self._file is not None:
            return True
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        except OSError:
            # A file system without locks: better to write than to lose the session.
            os.close(file)
            return True
        self._file = file
        return True

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
