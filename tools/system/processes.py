"""The one way to start a program: a group of its own, read without threads, killed whole.

A child leads its own session, so nothing it starts outlives `kill` unless it leaves the group; what
leaves the group still carries a marker and is ended by `tools.system.sweep`.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from gatewright.tools.protocol import Spawn, SpawnRequest, ToolFailure
from gatewright.tools.system.pipes import Errors, holding
from gatewright.tools.system.sweep import MARKER, end_strays, group_lives, next_marker

CHUNK = 256 * 1024
NOWHERE = subprocess.DEVNULL  # for what is said on stderr
_F_GETPATH = 50  # of macOS
_LEFTOVER = 1024 * 1024  # a pipe holds no more than this once its writer is gone
_POLL = 0.01
_REAPED = 2.0  # seconds in which a process that was killed is gone, unless the system holds it
_PR_SET_PDEATHSIG = 1


class GroupChild:
    """A running process group; implements tools.protocol.Child."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        output: int,
        marker: str,
        *,
        leaves: bool = False,
        over: Callable[[], bool] | None = None,
        ended: Callable[[], None] | None = None,
    ) -> None:
        self._process = process
        self._ended = ended
        self._leaves = leaves
        self._marker, self._over = marker, over
        self._swept = False
        self._output = output
        self._leftover = _LEFTOVER
        self._unyielded = 0
        self._exited = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._reading: asyncio.Future[None] | None = None
        self._pidfd = -1
        self._watch()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exited(self) -> bool:
        return self._exited.is_set()

    @property
    def code(self) -> int | None:
        """128 + n after signal n."""
        code = self._process.returncode if self.exited else None
        return 128 - code if code is not None and code < 0 else code

    def _watch(self) -> None:
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not Linux, or a sandbox without it
            self._loop.call_later(_POLL, self._poll)
        else:
            self._loop.add_reader(self._pidfd, self._on_exit)

    def _poll(self) -> None:
        # WNOWAIT keeps the zombie, so the group's id cannot be taken by anyone before we are done.
        if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            self._loop.call_later(_POLL, self._poll)
        else:
            self._on_exit()

    def _on_exit(self) -> None:
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        if not self._leaves:
            self._signal(signal.SIGTERM)  # the zombie still holds the group's id: never another's
        self._process.wait()
        self._exited.set()
        if self._reading is not None:
            settle(self._reading)

    async def read(self) -> bytes:
        """The next chunk of output; empty at the end or once the direct child is gone.

        Of one that may leave something behind, that counts as well.
        """
        while self._output >= 0:
            gone = self.exited and not self._leaves
            try:
                chunk = os.read(self._output, CHUNK)
            except BlockingIOError:
                if gone:
                    break
                await self._readable()
                continue
            if gone:
                self._leftover -= len(chunk)
            if not chunk or self._leftover < 0:
                break
            await self._breathe(len(chunk))
            return chunk
        self._close()
        await self._exited.wait()
        return b""

    async def _breathe(self, size: int) -> None:
        """Let the loop run now and then although a fast writer always has more."""
        self._unyielded += size
        if self._unyielded > _LEFTOVER:
            self._unyielded = 0
            await asyncio.sleep(0)

    async def _readable(self) -> None:
        self._reading = ready = self._loop.create_future()
        self._loop.add_reader(self._output, settle, ready)
        try:
            await ready
        finally:
            self._reading = None
            if self._output >= 0:
                self._loop.remove_reader(self._output)

    def _close(self) -> None:
        if self._output >= 0:
            self._loop.remove_reader(self._output)
            os.close(self._output)
            self._output = -1

    async def wait(self) -> int:
        """The exit status of the direct child, 128 + n after signal n; its group is ended."""
        await self._exited.wait()
        if not self._leaves:
            await self._empty(0.3)
        self._close()
        self._sweep()
        assert self.code is not None
        return self.code

    def _sweep(self) -> None:
        """What left the group, and whatever was made for the process; once."""
        if self._swept:
            return
        self._swept = True
        if self._marker and not (self._over is not None and self._over()):
            end_strays(self._marker, self.pid)
        if self._ended is not None:
            self._ended()

    async def kill(self, grace: float = 2.0) -> None:
        """TERM the whole group, KILL what is left after `grace` seconds, and reap it.

        Whoever is cancelled meanwhile has killed it at once, and leaves nothing to reap: the loop
        that would hear of its end may be ending too.
        """
        self.hint()
        self._leaves = False
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._exited.wait(), grace)
            self._kill()
            await self.wait()
        except asyncio.CancelledError:
            self._kill()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._exited.wait(), _REAPED)
            self._sweep()
            raise

    def _kill(self) -> None:
        if not self.exited:
            self._signal(signal.SIGKILL)
        self._close()

    def forget(self) -> None:
        """What it has printed so far is nobody's."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self._output, CHUNK):
                pass

    def end(self) -> None:
        """KILL the whole group and reap it, here and now: there may be no loop any more."""
        self._signal(signal.SIGKILL)
        self._process.wait()
        if self._loop.is_closed():
            for fd in (self._pidfd, self._output):
                if fd >= 0:
                    os.close(fd)
            self._pidfd = self._output = -1
        elif self._pidfd >= 0:
            self._on_exit()
        self._exited.set()
        self._close()
        self._sweep()

    def hint(self) -> None:
        """TERM the whole group, and no more: what it says to that is read."""
        if not self.exited or (self._leaves and group_lives(self.pid)):
            self._signal(signal.SIGTERM)

    async def _empty(self, grace: float) -> None:
        """Wait until no process of the group is left, with KILL after `grace` seconds.

        A group that still has members keeps its id, so signalling it cannot hit a stranger.
        """
        deadline = self._loop.time() + grace
        killed = False
        while self._signal(0) and group_lives(self.pid):
            if self._loop.time() > deadline:
                if killed:
                    return  # not ours to wait for any longer: it cannot be ended
                self._signal(signal.SIGKILL)
                deadline, killed = self._loop.time() + grace, True
            await asyncio.sleep(_POLL)

    def _signal(self, number: int) -> bool:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            return False  # what is left of the group changed its user: not ours to end
        return True


def settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def spawn(request: SpawnRequest) -> GroupChild:
    """Start the process, or go on with one that was; ToolFailure where there can be none."""
    if request.begun is None:
        return started(request)
    begun: GroupChild = await request.begun()
    return begun


def started(request: SpawnRequest) -> GroupChild:
    """Start the process; ToolFailure when the program or the directory is not there.

    Popen forks with vfork here: about 1 ms and independent of our own size; asyncio's own
    subprocess support would add threads and transports for nothing we use.
    """
    reader, writer = os.pipe()
    marker = "" if request.leaves else next_marker()
    try:
        os.set_blocking(reader, False)

        def begin() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                request.argv,
                cwd=_start_of(request),
                env={**request.env, MARKER: marker} if marker else request.env,
                stdin=subprocess.DEVNULL if request.stdin < 0 else request.stdin,
                stdout=writer,
                stderr=writer if request.errors == -1 else request.errors,
                start_new_session=True,
                pass_fds=request.fds,
                preexec_fn=_dying_with_us() if request.dies_with_us else None,
            )

        process = begin() if request.start is None else request.start(begin)
    except (OSError, ValueError) as error:  # a NUL, or half a character, in an argument
        os.close(reader)
        if request.ended is not None:
            request.ended()
        raise ToolFailure(_refusal(request, error)) from None
    finally:
        os.close(writer)
    _limit(process.pid, request.memory)
    return GroupChild(
        process,
        reader,
        marker,
        leaves=request.leaves,
        over=request.over,
        ended=request.ended,
    )


class Printed(NamedTuple):
    """What a program has printed, as much as was to be kept; `code` is None if it took too long."""

    code: int | None
    output: bytes
    errors: bytes


async def printed(
    request: SpawnRequest,
    given: bytes = b"",
    *,
    seconds: float,
    keep: int,
    start: Spawn | None = None,
) -> Printed:
    """Run it to its end with these bytes to read; ToolFailure where it cannot start.

    Whoever stops waiting, or whose time is over, has ended it with its group.
    `start` is how it is started, where that is not as ever.
    """
    with Errors(keep) as errors:
        stdin = holding(given) if given else -1
        ways = {"stdin": stdin, "errors": errors.end}
        try:
            child = await (start or spawn)(msgspec.structs.replace(request, **ways))
        finally:
            errors.begun()
            if given:
                os.close(stdin)
        output, code = bytearray(), None
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while chunk := await child.read():
                        output += chunk[: keep - len(output)]
                    code = await child.wait()
        finally:
            if code is None:
                await child.kill(0.0)
        return Printed(code, bytes(output), errors.kept())


def _dying_with_us() -> Callable[[], None] | None:
    """What the child does first. It costs a fork in place of a vfork: for what runs for long."""
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415  lazy: 4 ms, only for what runs for long

    prctl, us = ctypes.CDLL(None).prctl, os.getpid()

    def first() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != us:  # we were gone before it was said
            os._exit(1)

    return first


def _limit(pid: int, memory: int) -> None:
    """Only Linux can bound a process that runs; files that are mapped do not count."""
    if memory and sys.platform == "linux":
        with contextlib.suppress(OSError):  # it has ended
            resource.prlimit(pid, resource.RLIMIT_DATA, (memory, memory))


def _start_of(request: SpawnRequest) -> Path | str:
    """A descriptor's own name leads to the directory itself, wherever its path leads by now."""
    if request.at < 0:
        return request.cwd
    if sys.platform == "darwin":  # there a descriptor knows its path, and cannot be entered
        return fcntl.fcntl(request.at, _F_GETPATH, bytes(1024)).rstrip(b"\0").decode()
    return f"/proc/self/fd/{request.at}"


def _refusal(request: SpawnRequest, error: OSError | ValueError) -> str:
    if request.at < 0 and not request.cwd.is_dir():
        return f"The directory {request.cwd} does not exist any more; nothing was run there."
    reason = error.strerror if isinstance(error, OSError) else error
    return f"Cannot start {request.argv[0]}: {reason}."
