"""What was sent before, walked with Up and Down; an unfinished draft is never lost."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

MAX = 1000
MAX_KEPT = 20_000  # characters of one entry that is worth a file
MAX_READ = 2_000_000  # bytes from the end of the file


class History:
    """Oldest first. The draft of the moment is the entry after the newest."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._entries: list[str] = _stored(path) if path is not None else []
        self._at: int | None = None
        self._draft = ""

    def __len__(self) -> int:
        return len(self._entries)

    def entries(self) -> list[str]:
        return list(self._entries)

    def add(self, text: str) -> None:
        """Remember something sent; repeating the newest adds nothing."""
        self._at = None
        if text.strip() and (not self._entries or self._entries[-1] != text):
            self._entries.append(text)
            del self._entries[:-MAX]
            self._keep(text)

    def seed(self, texts: Iterable[str]) -> None:
        """What a resumed session said before, unless a file already knew it."""
        known = set(self._entries)
        self._entries += [text for text in texts if text not in known]

    def _keep(self, text: str) -> None:
        """One line more in the file; a history that cannot be written is no reason to stop."""
        if self._path is None or len(text) > MAX_KEPT:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(text) + "\n")

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

    def leave(self) -> None:
        """The text was edited: it is the draft now."""
        self._at = None


def _stored(path: Path) -> list[str]:
    """What earlier sessions kept, the newest last; lines that cannot be read are left out."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - MAX_READ))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    entries: list[str] = []
    for line in lines:
        with contextlib.suppress(ValueError):
            text: object = json.loads(line)
            if isinstance(text, str):
                entries.append(text)
    return entries[-MAX:]
