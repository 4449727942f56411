"""What was sent before, walked with Up and Down; an unfinished draft is never lost."""

from __future__ import annotations

MAX = 1000


class History:
    """Oldest first. The draft of the moment is the entry after the newest."""

    def __init__(self) -> None:
        self._entries: list[str] = []
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
