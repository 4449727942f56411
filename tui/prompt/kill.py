"""The kill ring: what readline's cutting keys took, newest first."""

from __future__ import annotations

MAX = 20


class KillRing:
    """Consecutive kills join into one entry; yanking again turns the ring."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._turn = 0
        self._joining = False

    def kill(self, text: str, *, before: bool = False) -> None:
        """Keep cut text; `before` when it stood left of the cursor."""
        if not text:
            return
        if self._joining and self._entries:
            old = self._entries[0]
            self._entries[0] = text + old if before else old + text
        else:
            self._entries.insert(0, text)
            del self._entries[MAX:]
        self._joining, self._turn = True, 0

    def other_key(self) -> None:
        """Something else was pressed: the next kill starts a new entry."""
        self._joining = False

    def yank(self) -> str:
        self._turn = 0
        return self._entries[0] if self._entries else ""

    def turn(self) -> str:
        """The entry after the one that was yanked last."""
        if not self._entries:
            return ""
        self._turn = (self._turn + 1) % len(self._entries)
        return self._entries[self._turn]
