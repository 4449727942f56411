"""Writing the draft in the person's own editor, which has the terminal meanwhile.

The screen goes on living, so that signals are heard; whatever the editor does, a draft comes back.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shlex
import signal
import tempfile
from asyncio.subprocess import Process
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import NamedTuple

from gatewright.tools.system.programs import find, with_search_path
from gatewright.tools.system.project import here

FALLBACKS = ("nano", "vim", "vi")
PATIENCE = 2.0  # seconds an editor has to end when the program must


class Edited(NamedTuple):
    """The text after editing; with a problem it is the text as it was before."""

    text: str
    problem: str = ""


def editor(env: Mapping[str, str]) -> list[str]:
    """The command the person set, else the first that exists. Raises ValueError.

    A program by its path: none of the project takes the place of the one that was meant.
    """
    chosen = shlex.split(env.get("VISUAL") or env.get("EDITOR") or "")
    if chosen:
        name, *arguments = chosen
        return [name if "/" in name else find(name, env, here(env)) or name, *arguments]
    found = next((path for name in FALLBACKS if (path := find(name, env, here(env)))), "")
    return [found] if found else []


class Editor:
    """One editor at a time."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._lent = False

    @property
    def running(self) -> bool:
        """From the moment it is asked for: a second one at once would lose the line's state."""
        return self._lent

    async def run(self, text: str, env: Mapping[str, str], *, suffix: str = ".md") -> Edited:
        """Wait, as long as the person writes, for the text after editing."""
        try:
            command = editor(env)
        except ValueError as error:
            return Edited(text, f"EDITOR cannot be read as a command: {error}.")
        if not command:
            return Edited(text, "There is no editor here: set EDITOR to the one you like.")
        name = command[0]
        self._lent = True
        try:
            code, after = await self._edited(text, command, suffix)
        except OSError as error:
            why = error.strerror or "unknown"
            return Edited(text, f"{name} could not be used ({why}): set EDITOR to another one.")
        finally:
            self._lent = False
        if code:
            return Edited(text, f"{name} ended with {code}: the draft is as it was.")
        return Edited(after.rstrip("\n"))

    async def _edited(self, text: str, command: list[str], suffix: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory(prefix="agent-") as folder:
            path = Path(folder) / f"message{suffix}"
            path.write_text(text, encoding="utf-8", errors="replace")  # halves of pairs
            code = await self._wait([*command, str(path)])
            return code, path.read_text(encoding="utf-8", errors="replace")

    async def _wait(self, command: list[str]) -> int:
        if "/" not in command[0]:  # nothing of that name that we may start
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        with _keys_of_the_editor():
            self._process = process = await asyncio.create_subprocess_exec(
                *command, env=with_search_path(os.environ, here(os.environ))
            )
            try:
                return await process.wait()
            finally:
                self._process = None
                if process.returncode is None:
                    process.terminate()

    async def stop(self) -> None:
        """End the editor, because the program ends."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
            try:
                async with asyncio.timeout(PATIENCE):
                    await process.wait()
            except TimeoutError:
                process.kill()


@contextlib.contextmanager
def _keys_of_the_editor() -> Generator[None]:
    """Ctrl+C in the editor reaches us too; ignored, the editor would inherit that."""
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, lambda _number, _frame: None)
    except ValueError:  # not the main thread: a test
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
