"""Lines of a stream made into few notices: joined, counted, held back where there are too many.

Pure: bytes and moments in, notices out. Every line is told, or counted as left out.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gatewright.agent.agents.inert_text import as_data

LINE = 500  # characters of one
NOTICE = 3_000  # characters of all lines of a notice
APART = 2_000  # lines of a batch that are looked at one by one
JOINED = 0.2  # seconds
TOKENS, REFILL = 10, 2.0
FLOOD = 30.0  # seconds of too much that stop it
_HELD = 4 * LINE  # bytes of a line that has not ended


class Line(msgspec.Struct):
    text: bytes
    offset: int  # of its first byte in all that was printed
    count: int = 1


class Batch(msgspec.Struct):
    """Lines of one notice; `more` are those that there was no room for."""

    lines: list[Line]
    began: float
    size: int = 0
    more: int = 0
    seen: int = 0


class Events:
    """`matches` says of a line whether it counts; the rest is nobody's business."""

    def __init__(
        self,
        matches: Callable[[str], bool] | None = None,
        clean: Callable[[str], str] = lambda text: text,
    ) -> None:
        self._matches, self._clean = matches, clean
        self._held = bytearray()  # the beginning of the line that comes
        self._begun = 0  # where that line begins
        self._read = 0
        self._batch: Batch | None = None
        self._tokens, self._filled = float(TOKENS), 0.0
        self._flood = 0.0  # since when there is too much
        self.left_out = 0  # lines that no notice has, since the last one
        self.lines = 0  # that ended, and count

    def feed(self, data: bytes, now: float) -> None:
        """What was printed next; it is looked at in pieces, however long its lines are."""
        at, crowded = 0, self._crowded(now)
        while (end := data.find(b"\n", at)) >= 0:
            if self._matches is None and (crowded or self._full()):
                rest = data.count(b"\n", at)
                self._skip(rest)
                self._held.clear()
                at = data.rfind(b"\n") + 1
                self._begun = self._read + at
                break
            self._hold(data[at:end])
            self._line(now, crowded=crowded)
            at = end + 1
            self._begun = self._read + at
        self._hold(data[at:])
        self._read += len(data)

    def end(self, now: float) -> None:
        """Nothing comes any more: what has no end of line is a line, too."""
        if self._held:
            self._line(now, crowded=False)

    @property
    def due(self) -> float | None:
        """When the notice is to be given; None while there is none."""
        return None if self._batch is None else self._batch.began + JOINED

    def flooded(self, now: float) -> bool:
        return bool(self._flood) and now - self._flood >= FLOOD

    def take(self, now: float, *, last: bool = False) -> str:
        """The notice that is due; empty where its lines are held back, or there are none."""
        batch, self._batch = self._batch, None
        if batch is None:
            return ""
        if not last and not self._pays(now):
            self.left_out += batch.seen
            self._flood = self._flood or now
            return ""
        told = [f"[{self.left_out} suppressed]"] if self.left_out else []
        self.left_out = 0
        told += [f"@{each.offset} {self._shown(each)}" for each in batch.lines]
        told += [f"[and {batch.more} more lines]"] if batch.more else []
        return "\n".join(told)

    def _hold(self, piece: bytes) -> None:
        room = _HELD - len(self._held)
        if room > 0:
            self._held += piece[:room]

    def _line(self, now: float, *, crowded: bool) -> None:
        text = bytes(self._held)
        self._held.clear()
        if self._matches is not None and not self._matches(text.decode(errors="replace")):
            return
        self.lines += 1
        if crowded:
            self.left_out += 1
            return
        batch = self._batch = self._batch or Batch([], now)
        batch.seen += 1
        if batch.lines and batch.lines[-1].text == text:
            batch.lines[-1].count += 1
        elif batch.size + min(len(text), LINE) > NOTICE or self._full():
            batch.more += 1
        else:
            batch.lines.append(Line(text, self._begun))
            batch.size += min(len(text), LINE) + 12

    def _shown(self, line: Line) -> str:
        text = self._clean(line.text.decode(errors="replace"))
        text = as_data(text if len(text) <= LINE else f"{text[:LINE]}…")[0]
        return f"{text} [{line.count} times]" if line.count > 1 else text

    def _skip(self, lines: int) -> None:
        """Counted at once, and not looked at."""
        self.lines += lines
        if self._batch is None:
            self.left_out += lines
        else:
            self._batch.more += lines
            self._batch.seen += lines

    def _full(self) -> bool:
        return self._batch is not None and self._batch.seen >= APART

    def _crowded(self, now: float) -> bool:
        """No notice could be given now, and none is being gathered."""
        self._refill(now)
        if self._tokens >= 1 or self._batch is not None:
            return False
        self._flood = self._flood or now
        return True

    def _pays(self, now: float) -> bool:
        self._refill(now)
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def _refill(self, now: float) -> None:
        passed, self._filled = now - self._filled, now
        self._tokens = min(float(TOKENS), self._tokens + max(0.0, passed) / REFILL)
        if self._tokens >= 2:  # it has been quiet
            self._flood = 0.0
