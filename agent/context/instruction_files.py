"""The instruction files of a session for people: which are read, what they cost, a line more."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from gatewright.agent.context.briefing import Briefing, read_memory
from gatewright.agent.context.prompt.approvals import Approvals
from gatewright.agent.context.prompt.memory import LOCAL_NAMES, NAMES, Memory
from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events import AnyEvent, FileSaved
from gatewright.agent.record.events_of_past import FileState
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

LINE_LIMIT = 2_000
FILE_LIMIT = 1_000_000  # bytes of one that is edited


def _to_nobody(event: AnyEvent) -> None:
    del event


class MemoryBook:
    """What is changed here counts from the next conversation on; `briefing` then reads it anew."""

    def __init__(
        self,
        around: Callable[[], Surroundings],
        briefing: Briefing,
        emit: Callable[[AnyEvent], None] = _to_nobody,
    ) -> None:
        self._emit = emit
        self._around = around
        self._briefing = briefing

    def now(self) -> Memory:
        """The files as they are on disk right now."""
        return read_memory(self._around(), self._briefing.readable)

    def told(self) -> Sequence[str] | None:
        """Those that the model is told from the beginning, as shown; None: not read yet."""
        memory = self._briefing.read()
        if memory is None:
            return None
        shown, files = self._around().where.shown, memory.files
        return [shown(file.path) for file in files if not file.paths and file.by is None]

    def target(self, kind: str) -> Path:
        """The file a new line goes to: user, project or local. Raises GatewrightError."""
        around = self._around()
        match kind:
            case "user":
                return _existing(around.places.home, NAMES)
            case "project":
                return _existing(around.where.root, NAMES)
            case "local":
                return _existing(around.where.root, LOCAL_NAMES)
            case _:
                raise GatewrightError("A line goes to user, project or local.")

    def missing(self, memory: Memory) -> Sequence[tuple[str, Path]]:
        """Kinds that have no file yet, and where it would be."""
        known = {file.path for file in memory.files} | {each.path for each in memory.withheld}
        wanted = ((kind, self.target(kind)) for kind in ("user", "project", "local"))
        return [(kind, path) for kind, path in wanted if path not in known]

    def text(self, path: Path) -> str:
        """All of a file, as it is; empty where there is none. Raises GatewrightError."""
        try:
            return read_regular(path, FILE_LIMIT).decode("utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise GatewrightError(f"{path} cannot be edited here: {error}.") from error

    def put(self, path: Path, before: str, text: str) -> None:
        """Write what the person made of a file. Raises GatewrightError, also where it changed."""
        if self.text(path) != before:
            raise GatewrightError(f"{path} changed while you edited it, and stays as it is now.")
        # what is not there yet is made, and never behind a link that leads nowhere
        flags = os.O_WRONLY | os.O_TRUNC if path.exists() else os.O_CREAT | os.O_EXCL | os.O_WRONLY
        try:
            private.folder(path.parent)
            with os.fdopen(os.open(path, flags | os.O_CLOEXEC, 0o644), "wb") as file:
                file.write(text.rstrip("\n").encode() + b"\n" if text.strip() else b"")
        except OSError as error:
            raise GatewrightError(f"{path} cannot be written: {error.strerror}.") from error

    async def add(self, line: str, kind: str) -> Path:
        """Append one line to a file; returns the file. Raises GatewrightError."""
        text = " ".join(line.split())[:LINE_LIMIT]
        if not text:
            raise GatewrightError("There is nothing to remember in that.")
        text = text if text.startswith("- ") else f"- {text}"
        path, real = await asyncio.to_thread(self._add, text, kind)
        self._briefing.forget()
        # It is the person's: going back leaves it.
        self._emit(FileSaved(state=FileState(path=real), line=text))
        return path

    def _add(self, text: str, kind: str) -> tuple[Path, str]:
        path = self.target(kind)
        try:
            private.folder(path.parent)
            _append(path, text)
        except OSError as error:
            raise GatewrightError(f"{path} cannot be written: {error.strerror}.") from error
        return path, os.path.realpath(path)

    def approve(self) -> Sequence[Path]:
        """Let every import that waits be read from now on. Raises GatewrightError."""
        around = self._around()
        waiting = self.now().waiting
        if waiting:
            Approvals(around.places.state, around.where.root).add(waiting)
            self._briefing.forget()
        return waiting


def _existing(folder: Path, names: Sequence[str]) -> Path:
    return next((folder / name for name in names if (folder / name).exists()), folder / names[0])


def _append(path: Path, line: str) -> None:
    """One write at the end of the file, on a line of its own."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(file).st_size
        broken = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        os.write(file, (("\n" if broken else "") + line + "\n").encode())
    finally:
        os.close(file)
