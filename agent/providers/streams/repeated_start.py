"""Some servers give a block's first words both at its start and in its deltas."""

from __future__ import annotations


class Echo:
    """Holds the words of the start until the deltas show whether they repeat them."""

    def __init__(self, start: str = "") -> None:
        self._start = start
        self._heard = ""

    def delta(self, text: str) -> str:
        """What is new with this delta."""
        if not self._start:
            return text
        self._heard += text
        if len(self._heard) < len(self._start) and self._start.startswith(self._heard):
            return ""
        repeated = self._heard.startswith(self._start)
        new = self._heard if repeated else self._start + self._heard
        self._start = self._heard = ""
        return new

    def end(self) -> str:
        """What was held and never came again."""
        held, self._start, self._heard = self._start, "", ""
        return held
