"""Ends what commands left behind: processes that carry our marker.

The marker is inherited in two ways: in the environment, and in a resource limit that means nothing
to the kernel any more and that no change of session, environment or program takes away. A process
is ended through a pidfd opened before its marker was read, so a recycled id is never hit. Where
there is no /proc only the groups that `tools.system.processes` knows are ended.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

MARKER = "GATEWRIGHT_CHILD"
_PROC = Path("/proc")
_LOCKS = 10  # RLIMIT_LOCKS: kernels since 2.4.25 keep it and never look at it
_SIGN, _PID_BITS, _START_BITS = 0x4757, 22, 25
_numbers = itertools.count(1)


@functools.cache
def _run(pid: int) -> int:
    """A process as a number: its id and start time, which together no other one has for days."""
    started = started_at(pid)
    if not started:
        return 0
    return (_SIGN << _PID_BITS | pid) << _START_BITS | int(started) % (1 << _START_BITS)


def _over(run: int) -> bool:
    """Whether the process that a run was is gone; what is no run of ours is not."""
    if run >> (_PID_BITS + _START_BITS) != _SIGN:
        return False
    pid = (run >> _START_BITS) % (1 << _PID_BITS)
    started = started_at(pid)
    return not started or int(started) % (1 << _START_BITS) != run % (1 << _START_BITS)


def next_marker() -> str:
    """A marker for one child: whose it is, and its number."""
    return f"{_run(os.getpid())}-{next(_numbers)}"


# For the beginning of a shell's script: the marker of its environment also as a limit, which its
# children cannot lose. Hard first: below another of our programs it may not be raised, and then a
# number alone would name a wrong command.
SHELL_MARK = (
    f'ulimit -x "${{{MARKER}%-*}}" 2>/dev/null && ulimit -Sx "${{{MARKER}#*-}}" 2>/dev/null || :'
)


def started_at(pid: int) -> str:
    """When a process began, as the kernel counts; empty where none lives, or without /proc."""
    try:
        stat = _read(pid, "stat")
    except OSError:
        return ""
    fields = stat[stat.rfind(b")") + 2 :].split()
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()


def end_strays(marker: str, leader: int) -> int:
    """Kill what one ended command left outside its group; returns how many that were."""
    found = [pid for pid in _since(leader) if marker in markers(pid)]
    return sum(_kill(pid, marker) for pid in found)


def group_lives(group: int) -> bool:
    """Whether a process group has a member that is no zombie; True where that cannot be seen."""
    return not _PROC.is_dir() or any(True for _ in group_members(group))


def group_members(group: int) -> Iterator[int]:
    """Those of a process group below its leader that are no zombies; none where nobody sees."""
    for pid in _since(group):
        try:
            stat = _read(pid, "stat")
        except OSError:
            continue
        state, _, pgrp = stat[stat.rfind(b")") + 2 :].split()[:3]
        if int(pgrp) == group and state not in (b"Z", b"X"):
            yield pid


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
    over: dict[int, bool] = {}
    count = 0
    for pid in _pids():
        for marker in markers(pid):
            run = _owner(marker)
            if run not in over:
                over[run] = _over(run)
            if over[run]:
                count += _kill(pid, marker)
                break
    return count


def sweep_own() -> int:
    """Kill all children of this process, of every session in it: for its exit alone."""
    me = os.getpid()
    mine = _run(me)
    found = [(pid, marker) for pid in _pids() if pid != me for marker in markers(pid)]
    return sum(_kill(pid, marker) for pid, marker in found if mine and _owner(marker) == mine)


def _owner(marker: str) -> int:
    run = marker.partition("-")[0]
    return int(run) if run.isascii() and run.isdecimal() else 0


def _pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        return (int(name) for name in os.listdir(_PROC) if name.isdecimal())  # noqa: PTH208  speed
    return iter(())


def markers(pid: int) -> tuple[str, ...]:
    """The marker of its limit and that of its environment, where it has them."""
    return tuple(marker for marker in (_limit(pid), _environment(pid)) if marker)


def limited(pid: int) -> bool:
    """Whether it has that limit at all: a marker, or what a command made of its own.

    It can be lowered and, but for root, never taken away.
    """
    return (found := _limits(pid)) is not None and found[1] != -1


def _limit(pid: int) -> str:
    if (found := _limits(pid)) is None:
        return ""
    number, run = found
    return f"{run}-{number}" if run >> (_PID_BITS + _START_BITS) == _SIGN else ""


def _limits(pid: int) -> tuple[int, int] | None:
    if sys.platform != "linux":
        return None
    import resource  # noqa: PLC0415  lazy: 2 ms, only once a command ended

    try:
        return resource.prlimit(pid, _LOCKS)
    except (OSError, ValueError):
        return None


def _environment(pid: int) -> str:
    try:
        environment = b"\0" + _read(pid, "environ")
    except OSError:
        return ""
    _, found, rest = environment.partition(f"\0{MARKER}=".encode())
    return rest.partition(b"\0")[0].decode(errors="replace") if found else ""


def _read(pid: int, name: str) -> bytes:
    with open(f"{_PROC}/{pid}/{name}", "rb", buffering=0) as file:  # noqa: PTH123  every process
        return file.read()


def _kill(pid: int, marker: str) -> bool:
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        return False
    try:
        if marker not in markers(pid):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
