"""Appends a session's durable events to its file: one line each, never rewritten.

A write is one system call on the page cache, so `barrier` can promise that what was published is
out of this process. When the disk refuses, the lines wait in memory, the person is told once, and
every later write tries again. A file that was deleted meanwhile is written anew from what the open
one still holds.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from gatewright.agent.errors import SessionError, SessionHeld
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import (
    AnyEvent,
    EffortChanged,
    Envelope,
    ModeChanged,
    ModelChanged,
    TitleChanged,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.hub import Subscription
from gatewright.agent.record.ids import new_id
from gatewright.agent.transcript.backwards import lines_backwards
from gatewright.tools.access import MAIN
from gatewright.tools.system import private

UNSAVED_LIMIT = 64 * 1024 * 1024
CHUNK = 1024 * 1024
TRIES, PROBE = 5, 0.002  # who only looks holds a lock for less than that many seconds


class TranscriptWriter:
    """Owns the file from the first message on, or from its name on.

    A session that nobody spoke in or named leaves nothing behind. Where it can be found again all
    the same, by a file that is there or an id that somebody was given, what the person chose in it
    is written too.
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
        self.agent = MAIN  # whose events it writes
        self.known = False  # it can be found again, whether or not anybody speaks
        self._file: int | None = None
        self._unsaved = bytearray()
        self._spoken = False
        self._chosen = False
        self._failed = False
        self._given_up = False  # something is lost for good

    def copy(self, stored: Sequence[Envelope]) -> None:
        """Begin with the events of another session; they too are written once somebody speaks."""
        for envelope in stored:
            self._unsaved += wire.encode(envelope, self._header.id)
        self._chosen = bool(stored)

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

    async def keep(self) -> None:
        """Somebody was given its id: from now on what is chosen in it is kept, behind a barrier."""
        self.known = True
        await self.barrier()

    @property
    def unsaved(self) -> str:
        """What is missing in the file as of now, in a sentence; empty when nothing is."""
        lines = self._unsaved.count(b"\n") if self._spoken else 0
        if not (lines or self._given_up):
            return ""
        missing = "much" if self._given_up else "1 entry" if lines == 1 else f"{lines:,} entries"
        lacks = "are" if lines > 1 and not self._given_up else "is"
        lost = f"{missing} of {self._path.name} {lacks} missing"
        return f"The end of this session was not saved: {lost}."

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
            if envelope.event.durable and envelope.agent == self.agent:
                self._unsaved += wire.encode(envelope, self._header.id)
                self._spoken = self._spoken or isinstance(
                    envelope.event, UserMessage | TitleChanged
                )
                self._chosen = self._chosen or _choice(envelope.event)
        self._spoken = self._spoken or (self.known and self._chosen)
        if self._spoken and self._unsaved:
            self._write()

    def _write(self) -> None:
        try:
            if self._file is not None and os.fstat(self._file).st_nlink == 0:
                self._write_anew(self._file)
            if self._file is None:
                self._file = self._open()
            while self._unsaved:
                del self._unsaved[: os.write(self._file, self._unsaved)]
        except (OSError, SessionError) as error:
            self._complain(error)
        else:
            self._saved_again()

    def _complain(self, error: Exception) -> None:
        if not self._failed:
            self._failed = True
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._warn(
                f"This session is not being saved: {reason} ({self._path}). "
                "Once it can be written, what waits is saved too."
            )
        if len(self._unsaved) > UNSAVED_LIMIT:
            del self._unsaved[:]
            self._given_up = True
            self._warn("Too much waits to be saved; earlier messages will be missing on resume.")

    def _saved_again(self) -> None:
        if self._failed:
            self._failed = False
            self._warn(f"This session is being saved again ({self._path}).")

    def _open(self) -> int:
        private.folder(self._path.parent)
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

    def _write_anew(self, deleted: int) -> None:
        """Somebody deleted the file under us; the open one still holds all that it had."""
        size = os.fstat(deleted).st_size
        tail = torn_tail(deleted, size)
        private.folder(self._path.parent)
        with suppress(FileExistsError):  # already another: what was in it is not ours to copy
            _copy(deleted, size - len(tail), self._path)
        self._unsaved[:0] = tail
        self.reopen()
        self._warn(f"The file of this session was deleted; it is written anew ({self._path}).")

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
        with open(aside, "ab", opener=private.opener) as out:
            out.write(tail + b"\n")
        os.ftruncate(file, size - len(tail))

    def _fsync(self) -> None:
        try:
            if self._file is not None:
                os.fsync(self._file)
        except OSError as error:
            self._complain(error)


def _choice(event: AnyEvent) -> bool:
    """Of the person, for the session."""
    if isinstance(event, ModeChanged):
        return event.by == "user"
    return isinstance(event, ModelChanged | EffortChanged)


def _copy(source: int, size: int, path: Path) -> None:
    """A new file with the first `size` bytes; none where it cannot hold them."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    at = 0
    try:
        while at < size and (chunk := os.pread(source, min(CHUNK, size - at), at)):
            at += os.write(file, chunk)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)


def torn_tail(file: int, size: int) -> bytes:
    """What stands behind the last newline of the file."""
    _, tail = next(lines_backwards(file, size))
    return tail


class TranscriptLock:
    """Keeps a second process off a transcript; the kernel drops it when this process dies."""

    def __init__(self) -> None:
        self._file: int | None = None

    def take(self, path: Path) -> None:
        """Raises SessionError when another process holds it."""
        if not self.took(path):
            raise SessionHeld(
                "another process works on this session; close it there, "
                "or go on in a copy with --fork-session"
            )

    def took(self, path: Path) -> bool:
        """Take it unless another process holds it for longer than a look at it takes."""
        return any(self._took(path, last=tried == TRIES) for tried in range(1, TRIES + 1))

    def _took(self, path: Path, *, last: bool) -> bool:
        if self._file is not None:
            return True
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            if not last:
                time.sleep(PROBE)
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
