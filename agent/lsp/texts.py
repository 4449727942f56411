"""What files hold, as servers are to see it: an editor's text that nobody saved, else the disk's.

An editor is asked before servers are told or asked anything, and for a bounded time: what it does
not say by then is the disk's. Between two looks its last word counts, so that whoever reads a text
and sends it awaits nothing in between.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Final, TypeAlias

from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.exact import real_path
from gatewright.tools.system.regular import read_regular
from gatewright.tools.textfiles import TextFiles

LARGEST: Final = 2 * 1024 * 1024
LIMIT: Final = 2.0  # seconds for a look
PAUSE: Final = 30.0  # seconds without one, after an editor that took longer
AT_ONCE, KEPT = 3, 200  # files that are asked for side by side; texts that are kept
Stamp: TypeAlias = tuple[int, int, int]
Text: TypeAlias = tuple[str, Stamp]


class Texts:
    """`files` is who holds the text of files, if somebody besides the disk does; `may` whether
    servers may be shown a file of this path at all.
    """

    def __init__(self, files: TextFiles | None = None, may: Callable[[str], bool] = bool) -> None:
        self._files, self._may = files, may
        self._unsaved: dict[str, Text] = {}
        self._one = asyncio.Lock()  # what is read later is also kept later
        self._not_before = 0.0

    def stamp_of(self, path: str) -> Stamp | None:
        """Changes when the text does; None where there is none."""
        found = self._unsaved.get(path)
        return found[1] if found is not None else disk_stamp(path)

    def text_of(self, path: str) -> Text | None:
        """With its stamp; None for what is no text, too large, a link, or not to be shown."""
        if not self._may(path):
            return None
        return self._unsaved.get(path) or disk_text(path)

    def unsaved(self, path: str) -> bool:
        return path in self._unsaved

    def forget(self) -> None:
        self._unsaved.clear()

    async def look(self, paths: Iterable[str]) -> Collection[str]:
        """Ask for the text of these files; those of which the editor has another than the disk."""
        wanted = tuple(dict.fromkeys(paths))[:KEPT]
        if self._files is None or not wanted:
            return ()
        async with self._one:
            shown = tuple(path for path in wanted if self._may(path))
            found = await self._asked(self._files, shown) if shown else {}
            for path in wanted:
                self._unsaved.pop(path, None)
                if (text := found.get(path)) is not None:
                    self._unsaved[path] = text
            for path in tuple(self._unsaved)[:-KEPT]:
                del self._unsaved[path]
        return {path for path in wanted if path in self._unsaved}

    async def _asked(self, files: TextFiles, paths: tuple[str, ...]) -> dict[str, Text | None]:
        loop = asyncio.get_running_loop()
        if loop.time() < self._not_before:
            return {}
        left, found = list(reversed(paths)), dict[str, Text | None]()

        def some() -> None:
            while left:
                try:
                    path = left.pop()
                except IndexError:  # another thread took the last
                    return
                found[path] = held_text(files, path)

        threads = min(AT_ONCE, len(paths))
        asking = {asyncio.ensure_future(asyncio.to_thread(some)) for _ in range(threads)}
        _, late = await asyncio.wait(asking, timeout=LIMIT)
        if late:
            left.clear()  # nobody begins another one
            self._not_before = loop.time() + PAUSE
        return dict(found)


def held_text(files: TextFiles, path: str) -> Text | None:
    """What somebody holds that is not on the disk; for a thread. None where that is the same."""
    stored = disk_text(path)
    try:
        if real_path(path) != path:
            return None
        with files.opened(Path(path)) as file:
            data = file.read(LARGEST + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError, ToolFailure):
        return None
    if len(data) > LARGEST or (stored is not None and stored[0] == text):
        return None
    if stored is None and os.path.lexists(path):  # no text on the disk: nobody's to be given
        return None
    digest = hashlib.blake2b(data, digest_size=8).digest()
    return text, (-1, len(data), int.from_bytes(digest, "big"))


def disk_stamp(path: str) -> Stamp | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def disk_text(path: str) -> Text | None:
    before = disk_stamp(path)
    try:
        if before is None or before[1] > LARGEST or real_path(path) != path:
            return None
        data = read_regular(Path(path), LARGEST, follow=False)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return (text, before) if disk_stamp(path) == before else None
