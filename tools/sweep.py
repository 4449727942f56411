"""Ends what commands left behind: processes that carry our marker in their environment.

A process is ended through a pidfd opened before its marker was read, so a recycled id is never
hit. Where there is no /proc only the groups that `tools.proc` knows are ended.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path

MARKER = "GATEWRIGHT_CHILD"
_PROC = Path("/proc")
_numbers = itertools.count(1)


@functools.cache
def _run(pid: int) -> str:
    """This process: its id and start time, which together no other process ever has."""
    return f"{pid}-{_started(pid)}"


def next_marker() -> str:
    """A marker for one child: whose it is, and its number."""
    return f"{_run(os.getpid())}-{next(_numbers)}"


def _started(pid: int) -> str:
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return ""
    return stat[stat.rfind(b")") + 2 :].split()[19].decode()


def end_strays(marker: str, leader: int) -> int:
    """Kill what one ended command left outside its group; returns how many that were."""
    found = [pid for pid in _since(leader) if _marker(pid) == marker]
    return sum(_kill(pid, marker) for pid in found)


def group_lives(group: int) -> bool:
    """Whether a process group has a member that is no zombie; True where that cannot be seen."""
    if not _PROC.is_dir():
        return True
    for pid in _since(group):
        try:
            stat = (_PROC / str(pid) / "stat").read_bytes()
        except OSError:
            continue
        state, _, pgrp = stat[stat.rfind(b")") + 2 :].split()[:3]
        if int(pgrp) == group and state not in (b"Z", b"X"):
            return True
    return False


def _since(ancestor: int) -> Iterator[int]:
    """Processes that may descend from `ancestor`: later ids, or all once the ids wrapped round."""
    try:
        newest = int((_PROC / "loadavg").read_bytes().split()[-1])
    except (OSError, ValueError, IndexError):
        newest = 0
    wrapped = newest < ancestor
    return (pid for pid in _pids() if wrapped or pid > ancestor)


def sweep_abandoned() -> int:
    """Kill the children of runs that are over: for the start of a process. Returns how many."""
    mine = _run(os.getpid())
    over: dict[str, bool] = {"": False, mine: False}
    count = 0
    for pid in _pids():
        marker = _marker(pid)
        run = marker.rpartition("-")[0]
        if run not in over:
            owner, _, started = run.partition("-")
            over[run] = owner.isdecimal() and _started(int(owner)) != started
        if over[run]:
            count += _kill(pid, marker)
    return count


def sweep_own() -> int:
    """Kill all children of this process, of every session in it: for its exit alone."""
    mine = _run(os.getpid())
    found = [(pid, marker) for pid in _pids() if (marker := _marker(pid))]
    return sum(
        _kill(pid, marker)
        for pid, marker in found
        if marker.rpartition("-")[0] == mine and pid != os.getpid()
    )


def _pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        return (int(name) for name in os.listdir(_PROC) if name.isdecimal())  # noqa: PTH208  speed
    return iter(())


def _marker(pid: int) -> str:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return ""
    name = f"{MARKER}=".encode()
    for entry in environment.split(b"\0"):
        if entry.startswith(name):
            return entry[len(name) :].decode(errors="replace")
    return ""


def _kill(pid: int, marker: str) -> bool:
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        return False
    try:
        if _marker(pid) != marker:
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
