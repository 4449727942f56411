"""How a command is run: here, as a child of ours, or in a terminal that is somebody else's.

Whoever follows it reads what it prints and nothing of ours in it, and learns at the end in which
directory its shell was.
"""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from gatewright.tools.protocol import Child, ToolContext, ToolFailure
from gatewright.tools.shell.environment import scripted
from gatewright.tools.system.sweep import SHELL_MARK

_LONGEST = 120_000  # bytes of a script: one argument of a program has no more than 128 kB


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A command, and the shell that is to run it."""

    command: str
    program: str
    cwd: Path
    env: Mapping[str, str]
    snapshot: Path | None = None


class Way(Protocol):
    """A command on its way. `cwd` is empty until it is known."""

    cwd: str

    @property
    def dropped(self) -> bool:
        """Whether some of what it printed may be kept by nobody."""
        ...

    @property
    def fault(self) -> str:
        """Why no more is known of it, as half a sentence; empty where it ended, or was ended."""
        ...

    async def read(self) -> bytes:
        """What it printed since; empty at the end."""
        ...

    async def wait(self) -> int | None: ...
    async def kill(self, grace: float) -> None: ...


def script(line: Line, report: str, first: str = "") -> str:
    """The command wrapped so that its shell says at the end in which directory it is.

    All of it is one line, as eval counts on from there: the lines that errors name are the
    command's own. `report` are the words that say it, `first` those before all others. ToolFailure
    for what no shell can be given.
    """
    sources = (line.snapshot, line.env.get("GATEWRIGHT_ENV_FILE"))
    parts = [SHELL_MARK, *filter(None, (first,))]
    named = (shlex.quote(str(source)) for source in sources if source)
    parts.extend(f"[ ! -f {name} ] || . {name} >/dev/null 2>&1 || :" for name in named)
    parts.append("shopt -s expand_aliases 2>/dev/null; exec 9>&1")
    parts.append(f"trap {shlex.quote(report)} EXIT")
    parts.append(f"{{ eval {_one_line(line.command)}; }} 9>&-")
    text = "; ".join(parts)
    if len(text.encode()) > _LONGEST:
        raise ToolFailure("The command is too long. Write it to a file and run that.")
    return text


def _one_line(text: str) -> str:
    """Quoted for bash without a line break."""
    return "$'" + text.replace("\\", r"\\").replace("'", r"\'").replace("\n", r"\n") + "'"


class Here:
    """A child of ours; its shell's report comes between two marks of its output.

    The report goes to a copy of stdout the command itself does not have (descriptor 9), so
    redirections do not catch it and nothing the command starts keeps the pipe open by it.
    """

    dropped, fault = False, ""

    def __init__(self, child: Child, mark: str) -> None:
        self._child, self._mark = child, b"\0" + mark.encode()
        self._held = b""
        self.cwd = ""

    async def read(self) -> bytes:
        while chunk := await self._child.read():
            if data := self._unmarked(chunk):
                return data
        held, self._held = self._held, b""
        return held

    async def wait(self) -> int | None:
        return await self._child.wait()

    async def kill(self, grace: float) -> None:
        await self._child.kill(grace)

    def _unmarked(self, chunk: bytes) -> bytes:
        """The output without the shell's closing report, which may be split between chunks."""
        data = self._held + chunk if self._held else chunk
        self._held = b""
        start = data.find(self._mark)
        if start >= 0:
            end = data.find(b"\0", start + 1)
            if end < 0:
                self._held = data[start:]
                return data[:start]
            self.cwd = os.fsdecode(data[start + len(self._mark) : end].removesuffix(b"\n"))
            return data[:start] + data[end + 1 :]
        cut = data.rfind(b"\0", -len(self._mark))
        if cut >= 0 and self._mark.startswith(data[cut:]):
            self._held = data[cut:]
            return data[:cut]
        return data


async def started(line: Line, ctx: ToolContext) -> Way:
    """Start the command: in the sandbox profile the call was given, or wherever else it belongs."""
    terminal = ctx.terminal if ctx.confinement is None else None
    if terminal is not None and terminal.wanted() and not ctx.secrets.shown(ctx.env):
        from gatewright.tools.shell.elsewhere import in_terminal  # noqa: PLC0415  an editor has one

        return await in_terminal(line, terminal, ctx)
    mark = f"end-{secrets.token_hex(8)}-"  # starts with no digit: printf would read it as octal
    report = f'{{ printf "\\0{mark}"; pwd -P; printf "\\0"; }} 2>/dev/null >&9'
    request = scripted(line.program, line.cwd, line.env, script(line, report))
    if ctx.confinement is not None:
        request = ctx.confinement.confine(request)
    return Here(await ctx.spawn(request), mark)
