"""What the places of skills said when they were read last, so that a start need not read them.

A file for each place, in a folder of the program's state. It is a cache: one that is missing,
broken or of another version costs a reading, and nothing of an untrusted project is in it.
"""

from __future__ import annotations

import contextlib
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from gatewright.skills.walking import NOTHING, Looked
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

VERSION = 2
LARGEST = 8 * 1024 * 1024
PLACES = 200  # that are remembered


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    version: int
    folder: str
    looked: Looked


class Index:
    """Implements `Kept`. `folder` is made with the first thing that is worth keeping."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, folder: str) -> Looked:
        try:
            data = read_regular(self._file(folder), LARGEST, follow=False)
            stored = msgspec.msgpack.decode(data, type=_Stored, dec_hook=_path)
        except (OSError, ValueError, RecursionError):
            return NOTHING
        mine = stored.version == VERSION and stored.folder == folder
        return stored.looked if mine else NOTHING

    def save(self, folder: str, looked: Looked) -> None:
        """Of a place without any file nothing is kept. What cannot be written is read again."""
        file = self._file(folder)
        with contextlib.suppress(OSError, UnicodeEncodeError):
            if not looked.files:
                file.unlink(missing_ok=True)
                return
            data = msgspec.msgpack.encode(_Stored(VERSION, folder, looked), enc_hook=str)
            if len(data) > LARGEST:
                return
            new = not file.exists()
            aside = file.with_suffix(f".{os.getpid()}.new")
            private.write(aside, data)
            aside.replace(file)
            if new:
                self._forget()

    def _file(self, folder: str) -> Path:
        name = sha256(os.fsencode(folder)).hexdigest()[:24]
        return self._folder / f"{name}.idx"

    def _forget(self) -> None:
        """Those of the places that were looked at longest ago, and what a crash left."""
        found = [(entry.stat().st_mtime_ns, entry.path) for entry in os.scandir(self._folder)]
        for _, path in sorted(found)[:-PLACES]:
            os.unlink(path)  # noqa: PTH108  a name from the directory


def _path(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise ValueError(kind)
