"""A command in a terminal of somebody else, as far as it can be what it is here.

What the terminal is given are plain words, which no shell on their way reads otherwise: the command
and its environment lie in a file that only the person can read. That the directory is the judged
one, and the input empty, is seen to by the command's own shell.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from pathlib import Path

from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.services import Terminal, TerminalRun
from gatewright.tools.shell.output import spill_path
from gatewright.tools.shell.ways import Line, script
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular
from gatewright.tools.system.sweep import MARKER, end_strays, next_marker

_ENV, _SH = "/usr/bin/env", "/bin/sh"
_FIRST = 1  # of all processes: which one the shell is nobody here knows
_PATH = 16_384  # bytes of what the shell says of its directory
NOT_BEGUN = (
    "the editor's terminal did not run it, maybe because it is on another machine; with "
    "acp.terminal off commands run here"
)
ELSEWHERE = 'echo "cannot enter "{} >&2; exit 1'


class Files:
    """What is said to the shell and what it says: it makes the second as it begins."""

    def __init__(self, folder: Path) -> None:
        self.order = spill_path(folder, "command").with_suffix(".sh")
        self.report = self.order.with_suffix(".end")

    def write(self, text: str) -> None:
        """ToolFailure where there is no room for it."""
        try:
            private.write(self.order, text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise ToolFailure(f"The command was not run: {self.order}: {error.strerror}.") from None

    def read(self) -> str | None:
        """Where the shell was at its end, if it said so; None where it never began."""
        try:
            said = read_regular(self.report, _PATH, follow=False)
        except OSError:
            return None
        return said.decode("utf-8", "surrogateescape").removesuffix("\n")

    def remove(self) -> None:
        for path in (self.order, self.report):
            with contextlib.suppress(OSError):
                path.unlink()


class Elsewhere:
    """Implements ways.Way. Whatever the terminal's owner does, what is left of it here is ended."""

    def __init__(self, run: TerminalRun, files: Files, marker: str) -> None:
        self._run, self._files, self._marker = run, files, marker
        self._fault = ""
        self._killed = False
        self.cwd = ""

    @property
    def dropped(self) -> bool:
        return self._run.dropped

    @property
    def fault(self) -> str:
        return self._run.fault or self._fault

    async def read(self) -> bytes:
        return await self._run.read()

    async def wait(self) -> int | None:
        code = await self._run.wait()
        await asyncio.to_thread(end_strays, self._marker, _FIRST)
        said = await asyncio.to_thread(self._files.read)
        await asyncio.to_thread(self._files.remove)
        if said is None and not self._killed:
            self._fault = NOT_BEGUN
        self.cwd = said or ""
        return code

    async def kill(self, grace: float) -> None:
        self._killed = True
        await self._run.kill(grace)


async def in_terminal(line: Line, terminal: Terminal, ctx: ToolContext) -> Elsewhere:
    """ToolFailure where it cannot be run there, and then it is not run."""
    if not line.cwd.is_dir():
        raise ToolFailure(f"The directory {line.cwd} does not exist any more; nothing was run.")
    files, marker = Files(ctx.spill), next_marker()
    report, cwd = shlex.quote(str(files.report)), shlex.quote(str(line.cwd))
    entered = f"builtin cd -- {cwd} 2>/dev/null || {{ {ELSEWHERE.format(cwd)}; }}"
    first = f": >|{report}; exec </dev/null; {entered}"
    text = script(line, f"pwd -P 2>/dev/null >|{report}", first)
    env = {**line.env, MARKER: marker}
    words = (_ENV, "-i", "--", *(f"{name}={value}" for name, value in env.items()))
    shell = (line.program, "--noprofile", "--norc", "-c", text)
    await asyncio.to_thread(files.write, f"exec {shlex.join((*words, *shell))}\n")
    try:
        argv = (_ENV, "-i", _SH, str(files.order))
        run = await terminal.run(argv, line.cwd, agent=ctx.agent, call=ctx.call_id)
    except BaseException:
        files.remove()  # a terminal that comes later finds nothing to run
        end_strays(marker, _FIRST)
        raise
    return Elsewhere(run, files, marker)
