"""Keeps bytes of files by their hash, and lets go of what only old turns refer to."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from gatewright.agent.record.events_of_past import FileState
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

TURNS = 100
SIZE_LIMIT = 50 * 1024 * 1024


class Blobs:
    """One folder per session. `turn` begins a new one; the oldest beyond TURNS are forgotten.

    `origin` is the folder of the session this one is a copy of.
    """

    def __init__(self, folder: Path, origin: Path | None = None) -> None:
        self._folder = folder
        self._origin = origin
        self._index = folder / "turns"

    def state_of(self, path: Path) -> FileState:
        """The file as it is now, its bytes kept. What cannot be kept says why in `left`."""
        name = str(path)
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            return FileState(name, left="its name is no text")
        try:
            info = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return FileState(name)
        except OSError as error:
            return FileState(name, left=error.strerror or "unreadable")
        if not stat.S_ISREG(info.st_mode):
            return FileState(name, left="no regular file")
        if info.st_size > SIZE_LIMIT:
            return FileState(name, left=f"larger than {SIZE_LIMIT // 1024**2} MB")
        try:
            return FileState(
                name,
                self.put(read_regular(path, SIZE_LIMIT, follow=False)),
                stat.S_IMODE(info.st_mode),
            )
        except OSError as error:
            return FileState(name, left=error.strerror or "unreadable")

    def put(self, data: bytes) -> str:
        """Keep the bytes; returns their hash."""
        name = hashlib.blake2b(data, digest_size=20).hexdigest()
        place = self._folder / name[:2] / name
        if not place.exists():
            fresh = place.with_suffix(f".{os.getpid()}")
            private.write(fresh, data)
            fresh.replace(place)
        return name

    def get(self, name: str) -> bytes | None:
        for folder in (self._folder, self._origin):
            if folder is not None:
                with suppress(OSError):
                    return (folder / name[:2] / name).read_bytes()
        return None

    def turn(self, hashes: Iterable[str]) -> None:
        """Note what one turn refers to, and drop what none of the newest does."""
        with suppress(OSError):
            lines = (
                self._index.read_text(encoding="utf-8").split("\n") if self._index.exists() else []
            )
            lines = [line for line in lines if line]
            lines.append(" ".join(hashes) or "-")
            old, kept = lines[:-TURNS], lines[-TURNS:]
            fresh = self._index.with_suffix(".new")
            private.write(fresh, ("\n".join(kept) + "\n").encode())
            fresh.replace(self._index)
            needed = {name for line in kept for name in line.split()}
            for name in {name for line in old for name in line.split()} - needed - {"-"}:
                (self._folder / name[:2] / name).unlink(missing_ok=True)
