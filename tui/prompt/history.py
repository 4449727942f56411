"""What was sent before, walked with Up and Down; an unfinished draft is never lost.

One file per project beside those of others; a line is an object, or in older files a text.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from gatewright.tools.system import private
from gatewright.tools.system.regular import open_regular

MAX = 1000
MAX_KEPT = 20_000  # characters of one entry that is worth a file
MAX_READ = 2_000_000  # bytes from the end of the file
MAX_FILE = 2 * MAX_READ  # bytes from which the file is written anew with what is read of it
MAX_FILES = 50  # files that are searched, those used last
READ_OF_EACH = 100_000  # bytes from the end of each


class Sent(NamedTuple):
    """`at` is seconds since the epoch, `project` the folder it was sent from, where known."""

    text: str
    at: float = 0.0
    project: str = ""


class History:
    """Oldest first. The draft of the moment is the entry after the newest."""

    def __init__(self, path: Path | None = None, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now = now
        self._entries: list[str] = _stored(path) if path is not None else []
        self._session: list[str] = []
        self._at: int | None = None
        self._draft = ""
        self.project = ""  # the folder of the session, once it is known

    def __len__(self) -> int:
        return len(self._entries)

    def entries(self) -> list[str]:
        return list(self._entries)

    def of_session(self) -> list[str]:
        """What this session said, the newest last."""
        return list(self._session)

    def of_all(self) -> list[Sent]:
        """What was sent from any project, the newest first."""
        now = self._now()
        found = [Sent(text, now, self.project) for text in reversed(self._session)]
        if self._path is not None:
            for path in _last_used(self._path.parent):
                found += _read(path, READ_OF_EACH)
        found.sort(key=lambda sent: -sent.at)
        return found

    def add(self, text: str) -> None:
        """Remember what was sent or emptied; repeating the newest adds nothing."""
        self._at = None
        if text.lstrip().startswith("/login "):
            return  # a key may stand behind it
        if text.strip() and self._session[-1:] != [text]:
            self._session.append(text)
            del self._session[:-MAX]
        if text.strip() and (not self._entries or self._entries[-1] != text):
            self._entries.append(text)
            del self._entries[:-MAX]
            self._keep(text)

    def begin(self) -> None:
        """Another session begins."""
        self._session.clear()

    def seed(self, texts: Iterable[str]) -> None:
        """What a resumed session said before, unless a file already knew it."""
        said = list(texts)[-MAX:]
        self._session += said
        known = set(self._entries)
        self._entries += [text for text in said if text not in known]

    def _keep(self, text: str) -> None:
        """One line more in the file; a history that cannot be written is no reason to stop."""
        if self._path is None or len(text) > MAX_KEPT:
            return
        line = json.dumps({"text": text, "at": round(self._now(), 3), "project": self.project})
        with contextlib.suppress(OSError):
            private.folder(self._path.parent)
            with open(self._path, "a", encoding="utf-8", opener=private.opener) as file:
                file.write(line + "\n")

    def older(self, current: str) -> str | None:
        """The entry before; None at the oldest."""
        if self._at is None:
            if not self._entries:
                return None
            self._draft, self._at = current, len(self._entries)
        if self._at == 0:
            return None
        self._at -= 1
        return self._entries[self._at]

    def newer(self) -> str | None:
        """The entry after, at last the draft; None when not walking."""
        if self._at is None:
            return None
        self._at += 1
        if self._at >= len(self._entries):
            self._at = None
            return self._draft
        return self._entries[self._at]

    @property
    def walking(self) -> bool:
        """An entry is shown, and not the draft."""
        return self._at is not None

    def leave(self) -> None:
        """The text was edited: it is the draft now."""
        self._at = None


def _stored(path: Path) -> list[str]:
    """What earlier sessions kept, the newest last; a file grown too large is written anew."""
    entries = _read(path, MAX_READ)[-MAX:]
    with contextlib.suppress(OSError):
        if path.stat().st_size > MAX_FILE:
            _replace(path, entries)
    return [sent.text for sent in entries]


def _replace(path: Path, entries: Iterable[Sent]) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(sent._asdict()) + "\n" for sent in entries)
    Path(name).replace(path)


def _read(path: Path, most: int) -> list[Sent]:
    """The entries at the end of a file; lines that cannot be read are left out."""
    try:
        with open_regular(path) as file:
            used = os.fstat(file.fileno()).st_mtime
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - most))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return [sent for line in lines if (sent := _sent(line, used)) is not None]


def _sent(line: str, used: float) -> Sent | None:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, str):
        return Sent(value, used)
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, object]", value)
    text, at, project = fields.get("text"), fields.get("at"), fields.get("project")
    if not isinstance(text, str):
        return None
    moment = float(at) if isinstance(at, int | float) else used
    return Sent(text, moment, project if isinstance(project, str) else "")


def _last_used(folder: Path) -> Iterator[Path]:
    """The files of all projects, the one used last first."""
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.endswith(".jsonl"):
                with contextlib.suppress(OSError):
                    found.append((entry.stat().st_mtime, Path(entry.path)))
    found.sort(reverse=True)
    return (path for _used, path in found[:MAX_FILES])
