"""Notices when a model goes in circles: the same call with the same result, again and again."""

from __future__ import annotations

import enum
import hashlib
from collections import deque

import msgspec

from gatewright.tools.protocol import Content, ToolCall

NOTE_AT = 3
STOP_AT = 5
SAME_ERRORS = 5

_encoder = msgspec.json.Encoder(order="deterministic")


class Verdict(enum.Enum):
    GO_ON = "go on"
    NOTE = "note"
    STOP = "stop"


class LoopGuard:
    """Fed with every finished call of a turn, in order."""

    def __init__(self) -> None:
        self._last: deque[bytes] = deque(maxlen=2 * STOP_AT)
        self._errors: deque[bytes] = deque(maxlen=SAME_ERRORS)

    def saw(
        self, call: ToolCall, content: tuple[Content, ...], *, ok: bool, key: str | None = None
    ) -> Verdict:
        """`key` is the call's `Facts.loop_key`: None is its input; "" counts only when it fails."""
        result = _digest(_encoder.encode(content))
        if ok and key == "":
            self._errors.clear()
            return Verdict.GO_ON
        self._last.append(_mark(call, key, result))
        if ok:
            self._errors.clear()
        else:
            self._errors.append(result)
        streak = max(self._repeats(1), self._repeats(2))
        if streak >= STOP_AT or self._same_errors():
            return Verdict.STOP
        return Verdict.NOTE if streak == NOTE_AT else Verdict.GO_ON

    def _repeats(self, period: int) -> int:
        """How often the last `period` calls have come in a row."""
        calls = list(self._last)
        unit = calls[-period:]
        if len(unit) < period or (period > 1 and len(set(unit)) == 1):
            return 0
        count = 0
        while calls and calls[-period:] == unit:
            count += 1
            del calls[-period:]
        return count

    def _same_errors(self) -> bool:
        return len(self._errors) == SAME_ERRORS and len(set(self._errors)) == 1


class Repeats:
    """Fed with every result of a turn, in order: whether the call before it was the same."""

    def __init__(self) -> None:
        self._last = b""

    def again(
        self, call: ToolCall, content: tuple[Content, ...], *, key: str | None = None
    ) -> bool:
        """Also the same result. A call whose point is to be repeated never is."""
        mark = _mark(call, key, _digest(_encoder.encode(content)))
        same, self._last = mark == self._last and key != "", mark
        return same


def _mark(call: ToolCall, key: str | None, result: bytes) -> bytes:
    return _digest(_encoder.encode((call.name, key or call.input)) + result)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
