"""One shell command from start to end: its output collected within bounds, its directory kept.

The pump task owns the process; stopping the job, or its end, leaves neither process nor task.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from gatewright.tools.counted import counted
from gatewright.tools.protocol import JsonObject, Progress, ToolContext
from gatewright.tools.shell.output import HeadTail, spill_path
from gatewright.tools.shell.ways import Line, Way, started
from gatewright.tools.system import private
from gatewright.tools.system.patterns import later

HEAD = 10_000
TAIL = 18_000
GRACE = 1.3  # with what follows KILL, all of a group is gone within two seconds
_TICK = 0.1  # progress at most ten times a second
_DISK_CHECK = 64 * 1024 * 1024
# A question ends without a newline; these words leave no doubt, the marks alone might be progress.
_QUESTION = later(
    r"[\[(](?:y|yes)/(?:n|no)\b|\b(?:password|passphrase)\b.*:$|\bpress (?:any key|enter|return)\b",
    re.IGNORECASE,
)
_MARKS = later(r"[?:]$")


class ShellLimits(msgspec.Struct, frozen=True, kw_only=True):
    """When a command is ended for what it writes, and when its silence is looked at.

    After `offer` seconds people are told that it can go on in the background.
    """

    output: int = 5_000_000_000
    file: int = 256_000_000  # of the output kept in the work file
    disk_free: int = 500_000_000
    quiet: float = 15.0
    offer: float = 2.0


class Shell(Line, frozen=True, kw_only=True):
    """A command, the shell that runs it, and how far it may go."""

    limits: ShellLimits = ShellLimits()


class ShellJob:
    """A running or ended command; implements tools.protocol.Job."""

    kind = "shell"

    def __init__(self, way: Way, shell: Shell, ctx: ToolContext) -> None:
        self._way = way
        self._title = shell.command
        self._detachable = ctx.jobs is not None
        self._path = spill_path(ctx.spill, "bash")
        self._file: BinaryIO | None = None
        self._written = 0
        self._checked = 0
        self._limits = shell.limits
        self._kept = HeadTail(HEAD, TAIL)
        self._started = time.monotonic()
        self._last_output = self._started
        self._told = 0
        self._ended = asyncio.Event()
        self._stopped = ""
        self.heard: Callable[[bytes], object] | None = None  # who follows what it prints
        self.code: int | None = None
        self.seconds = 0.0
        self._pump = asyncio.create_task(self._run())

    @property
    def title(self) -> str:
        return self._title

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    @property
    def size(self) -> int:
        return self._kept.size

    @property
    def stopped(self) -> str:
        """Why we ended it, empty if it ended by itself."""
        return self._stopped

    @property
    def lost(self) -> str:
        """Why nobody knows how it ended, empty if that is known."""
        return "" if self._stopped else self._way.fault

    @property
    def dropped(self) -> bool:
        """Whether some of what it printed may be kept by nobody."""
        return self._way.dropped

    @property
    def cwd(self) -> str:
        """Where the shell was at its end."""
        return self._way.cwd

    @property
    def work_file(self) -> Path | None:
        return self._path if self._file is not None else None

    def status(self) -> str:
        if self.running:
            return "running"
        lost = self.lost
        return self._stopped or (f"lost: {lost}" if lost else f"exit {self.code}")

    async def wait(self) -> None:
        await self._ended.wait()

    async def stop(self) -> None:
        """End the whole group; returns when nothing of it is left."""
        await self._stop("stopped")

    async def _stop(self, why: str) -> None:
        if self.running:
            self._stopped = self._stopped or why
            await self._way.kill(GRACE)
        await self._ended.wait()

    async def expire(self, seconds: float) -> None:
        """Stop it because its time is over, or because it asks."""
        question = self.asking()
        why = f"it waits for input it cannot get ({question!r})" if question else ""
        await self._stop(f"stopped: {why}" if why else f"stopped after {seconds:g} s")

    # -- output -----------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            while chunk := await self._way.read():
                self._take(chunk)
                if self._too_much():
                    await self._way.kill(0.5)
            self.code = await self._way.wait()
        finally:
            self.seconds = time.monotonic() - self._started
            if self._file is not None:
                self._file.close()
            self._ended.set()

    def _take(self, data: bytes) -> None:
        self._last_output = time.monotonic()
        if self._file is None and self._kept.size + len(data) > HEAD + TAIL:
            self.keep_file()
        self._kept.feed(data)
        if self.heard is not None:
            self.heard(data)
        if self._file is not None:
            self._write(data)

    def keep_file(self) -> None:
        """Write all output, past and coming, to the work file."""
        if self._file is not None or self._written < 0:
            return
        try:
            private.folder(self._path.parent)
            self._file = open(  # noqa: SIM115  it is written to until the end
                self._path, "wb", buffering=0, opener=private.opener
            )
        except OSError:
            self._written = -1  # nowhere to write: head and tail must do
            return
        self._write(self._kept.so_far())

    def _write(self, data: bytes) -> None:
        if self._file is None or self._written >= self._limits.file:
            return
        try:
            self._written += self._file.write(data[: self._limits.file - self._written])
        except OSError:
            self._stopped = self._stopped or "stopped: the disk is full"

    def _too_much(self) -> bool:
        if self._kept.size > self._limits.output:
            self._stopped = self._stopped or f"stopped: more than {self._limits.output:,} bytes"
        elif self._file is not None and self._written // _DISK_CHECK != self._checked:
            self._checked = self._written // _DISK_CHECK
            if shutil.disk_usage(self._path.parent).free < self._limits.disk_free:
                self._stopped = self._stopped or "stopped: the disk is nearly full"
        return bool(self._stopped)

    def output(self) -> str:
        """All it printed, made inert; beyond the bounds head and tail and where the whole is."""
        return self._kept.text(self._marker)

    def _marker(self, hidden: int) -> str:
        lines = self._kept.hidden_lines
        where = ""
        if self._file is not None:
            whole = self._written == self._kept.size
            what = "the whole is" if whole else f"its first {self._written:,} bytes are"
            if self.dropped and whole:
                what = "what the editor gave of it is"
            where = f"; {what} in {self._path}"
        least = "at least " if self.dropped else ""
        return f"[{least}{counted(lines, 'line')} ({hidden:,} bytes) left out{where}]"

    @property
    def hidden_lines(self) -> int:
        return self._kept.hidden_lines

    def shown(self) -> JsonObject:
        """The output as data for people: the text, and where how many lines are missing in it."""
        gap = self._kept.lines_above
        return {"stdout": self.output(), "hiddenLines": self.hidden_lines, "hiddenAt": gap}

    def news(self) -> str:
        fresh = self._kept.size - self._told
        self._told = self._kept.size
        skipped = max(0, fresh - HEAD)
        note = f"[{skipped:,} bytes before this are only in {self._path}]\n" if skipped else ""
        return note + self._kept.last(fresh - skipped)

    # -- watching ---------------------------------------------------------------------------

    async def watch(self, seconds: float, leave: asyncio.Event) -> AsyncIterator[Progress]:
        """Progress until the end, the time limit, a silence that looks like a question, or the
        wish to leave it alone.
        """
        told = (0, False)
        while self.running:
            elapsed = time.monotonic() - self._started
            if elapsed >= seconds or leave.is_set() or self.asking():
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), min(_TICK, seconds - elapsed))
            now = (self._kept.size, self._movable)
            if self.running and now != told:
                told = now
                yield self.progress()

    def progress(self) -> Progress:
        tail = "\n".join(line[:300] for line in self._kept.last(4000).splitlines()[-5:])
        return Progress(tail, self._kept.size, self._elapsed, self._movable)

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._started if self.running else self.seconds

    @property
    def _movable(self) -> bool:
        return self._detachable and self.running and self._elapsed >= self._limits.offer

    def asking(self) -> str:
        """The last line if it is a question that nobody answers: silence, and no end of line.

        Where the command cannot go on in the background only what is surely a question counts.
        """
        if time.monotonic() - self._last_output < self._limits.quiet or self._kept.ends_line:
            return ""
        line = self._kept.last(400).rpartition("\n")[2].strip()
        sure = _QUESTION.search(line) or (self._detachable and _MARKS.search(line))
        return line if sure else ""


async def start(shell: Shell, ctx: ToolContext) -> ShellJob:
    """Start the command where it belongs."""
    return ShellJob(await started(shell, ctx), shell, ctx)
