"""Which process something belongs to, whether it still lives, and whose child it is.

An id alone is given out again, so a process is named with its start. What a session started is told
by its ancestors and its marks: one that adopts stays the ancestor of all that it started, orphaned
or not, and a limit that was set stays set, so neither a double fork nor a changed environment hides
one. Where that cannot be seen the
answer is a refusal. Standard library and msgspec only.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from gatewright.tools.system.sweep import MARKER, limited, markers, started_at

DEEPEST = 256
_PR_SET_CHILD_SUBREAPER = 36
_OURS = "GATEWRIGHT"  # "1" in what a session starts
UNSEEN = "its process cannot be looked at"
MARKED = "it was started by a command of a session"
LIMITED = "its limit of file locks (ulimit -x) is set, as only commands of sessions have it"


class Lifetime(msgspec.Struct, frozen=True):
    """A process by its id and the moment it began, as the kernel counts; no id is nobody."""

    pid: int = 0
    start: str = ""

    def lives(self) -> bool:
        """Where start times cannot be seen, an id that is in use counts as that very process."""
        if self.pid <= 0:
            return False
        if now := started_at(self.pid):
            return not self.start or now == self.start
        return not os.path.isdir("/proc/self") and _in_use(self.pid)  # noqa: PTH112

    def is_us(self) -> bool:
        return self.pid == os.getpid() and self.start == started_at(self.pid)


def ours() -> Lifetime:
    return Lifetime(os.getpid(), started_at(os.getpid()))


def _in_use(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Process(NamedTuple):
    pid: int
    parent: int
    start: int
    state: str


def adopt() -> bool:
    """What our children leave behind is ours from now on, in place of the system's first process.

    Whoever adopts has to `reap`.
    """
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415  lazy: 4 ms, only for a session in the background

    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def child_of_a_session(pid: int, conversations: str, us: int = 0) -> str:
    """Why this process must not speak for the person; empty where nothing says so.

    Whoever holds a file below `conversations` is a session, and `us` is one.
    """
    if not os.path.isdir("/proc/self"):  # noqa: PTH112  speed
        return UNSEEN
    at, younger = pid, 0
    for _ in range(DEEPEST):
        found = process(at)
        if found is None or (younger and found.start > younger):
            return UNSEEN
        if at == us or markers(at) or (at != pid and _holds(at, conversations)):
            return MARKED
        told = _environment(at)
        if told is None:
            if at == pid:
                return UNSEEN
        elif f"\0{_OURS}=1\0".encode() in told or f"\0{MARKER}=".encode() in told:
            return MARKED
        if found.parent <= 1:
            return LIMITED if limited(pid) else ""
        at, younger = found.parent, found.start
    return UNSEEN


def process(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123  every process
            stat = file.read()
    except OSError:
        return None
    fields = stat[stat.rfind(b")") + 2 :].split()
    return Process(pid, int(fields[1]), int(fields[19]), fields[0].decode())


def children(pid: int) -> Iterator[Process]:
    """Those that live or were not reaped yet."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208  speed
    except OSError:
        return
    for name in names:
        if name.isdecimal() and (found := process(int(name))) is not None and found.parent == pid:
            yield found


class Reaper:
    """Takes away what was adopted and has ended: whoever started a child himself comes first."""

    def __init__(self) -> None:
        self._ended: set[tuple[int, int]] = set()

    def look(self) -> int:
        """Those that had ended at the last look too, which is to be long ago; how many."""
        ended = {(each.pid, each.start) for each in children(os.getpid()) if each.state == "Z"}
        adopted = ended & self._ended
        self._ended = ended - adopted
        for pid, _ in adopted:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:  # somebody took it meanwhile
                continue
        return len(adopted)


def _holds(pid: int, folder: str) -> bool:
    """Whether a process has a file below that folder open."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208  speed
    except OSError:  # another user's
        return False
    for name in names:
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{name}").startswith(f"{folder}/"):  # noqa: PTH115
                return True
    return False


def _environment(pid: int) -> bytes | None:
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:  # noqa: PTH123  every process
            return b"\0" + file.read() + b"\0"
    except OSError:
        return None
