"""Ends background sessions: asks one to stop, or kills it, once its process is confirmed to be it.

A record alone is never enough: what a forged one names is somebody else's process.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Generator
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.autonomy.running.launch import WORD
from gatewright.agent.autonomy.running.running_record import (
    UNLOCKED,
    Record,
    Seen,
    read,
    seen,
    write,
)
from gatewright.agent.autonomy.running.socket_places import is_socket_of_ours, record_file
from gatewright.agent.errors import SessionError
from gatewright.tools.system.locks import busy
from gatewright.tools.system.sweep import sweep_abandoned

PATIENCE = 12.0  # seconds: it needs ten at the most
GONE = 5.0
KILLED = "You killed it."
NOT_IT = (
    "Process {pid} is not session {id}, so it was left alone: agent bg clean forgets the record."
)
OVER = "Session {id} has ended already: {state}."
HANGS = "Session {id} did not end within {seconds:.0f} s: agent kill {id} ends it without asking."
STUCK = "The process of session {id} cannot be ended: the system holds it."


def stop(home: Path, record: Record, patience: float = PATIENCE) -> Seen | None:
    """Have its turn end, and what it says last be kept. Raises SessionError: it does not."""
    with _confirmed(record) as handle:
        signal.pidfd_send_signal(handle, signal.SIGTERM)
        if not _ended(handle, patience):
            raise SessionError(HANGS.format(id=record.id, seconds=patience))
    return seen(record_file(home, record.id), time.time())


def kill(home: Path, record: Record) -> Seen | None:
    """End it at once, then what it had started. Raises SessionError."""
    with _confirmed(record) as handle:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        if not _ended(handle, GONE):
            raise SessionError(STUCK.format(id=record.id))
    sweep_abandoned()
    file, now = record_file(home, record.id), time.time()
    last = read(file)
    if last is not None and last.pid == record.pid and not last.ended:
        ended = replace(last, state="interrupted", why=KILLED, ended=now, changed=now)
        write(file, replace(ended, ask="", viewers=0))
    if last is not None and is_socket_of_ours(Path(last.socket)):
        with contextlib.suppress(OSError):
            Path(last.socket).unlink()
    return seen(file, now)


def gone(record: Record, seconds: float) -> bool:
    """Wait for the end of its process, no longer than that; whether it came."""
    try:
        handle = os.pidfd_open(record.pid)
    except ProcessLookupError:
        return True
    except (AttributeError, OSError):  # not Linux
        return _polled(record, time.monotonic() + seconds)
    try:
        return not record.process.lives() or _ended(handle, seconds)
    finally:
        os.close(handle)


def _polled(record: Record, until: float) -> bool:
    while record.process.lives():
        if time.monotonic() > until:
            return False
        time.sleep(1.0)
    return True


@contextlib.contextmanager
def _confirmed(record: Record) -> Generator[int]:
    """A handle of its process. Raises SessionError: it has ended, or is another."""
    if record.ended or not record.process.lives():
        state = record.state if record.ended else "interrupted"
        raise SessionError(OVER.format(id=record.id, state=state))
    try:
        handle = os.pidfd_open(record.pid)
    except (AttributeError, OSError):
        raise SessionError(NOT_IT.format(pid=record.pid, id=record.id)) from None
    try:
        if not (record.process.lives() and is_it(record, time.time())):
            raise SessionError(NOT_IT.format(pid=record.pid, id=record.id))
        yield handle
    finally:
        os.close(handle)


def is_it(record: Record, now: float) -> bool:
    """Whether that process is a background session, and has this very conversation."""
    try:
        words = Path(f"/proc/{record.pid}/cmdline").read_bytes().split(b"\0")
        if WORD.encode() not in words or Path(f"/proc/{record.pid}").stat().st_uid != os.geteuid():
            return False
    except OSError:
        return False
    if not record.transcript or not Path(record.transcript).exists():
        return now - record.began < UNLOCKED  # it has not said anything so far
    if not busy(Path(record.transcript)):
        return now - record.changed < UNLOCKED  # it is ending
    return _has_open(record.pid, Path(record.transcript))


def _has_open(pid: int, file: Path) -> bool:
    try:
        wanted = file.stat()
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208  speed
    except OSError:
        return False
    for name in names:
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(f"/proc/{pid}/fd/{name}"), wanted):  # noqa: PTH116
                return True
    return False


def _ended(handle: int, seconds: float) -> bool:
    return bool(select.select([handle], [], [], seconds)[0])
