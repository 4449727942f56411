"""Whether the terminal is light: the question, and its answer taken out of what is typed.

Nobody waits for the answer. It may come in pieces, late, or never; no byte of it reaches the
prompt, and every other byte passes in its order.
"""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ASK = "\x1b]11;?\x07"
HEAD = b"\x1b]11;"
BODY = frozenset(b"0123456789abcdefABCDEF#/:rg")
ENDS = (b"\x07", b"\x1b\\", b"\x9c")
LONGEST = 40  # bytes of an answer behind its head
SOON = 0.05  # seconds without an answer after which the first frame is dark
WINDOW = 5.0  # seconds after the question in which the first bytes may be those of an answer
PAUSE = 0.1  # seconds after which an Escape that stands alone is a key
LOST = 10  # such pauses after which the rest of an answer does not come any more
# Terminals that would show the question instead of passing over it.
MUTE = ("linux", "vt", "cons", "ansi", "eterm", "sun", "wsvt")


class Ground:
    """`light` is None until the terminal said it."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.light: bool | None = None
        self.asked = 0.0  # when; 0: nobody asked
        self._clock = clock
        self._held = b""
        self._given = 0  # bytes of these that somebody has already
        self._pauses = 0

    def ask(self) -> str:
        """What to write to the terminal."""
        self.asked = self._clock()
        return ASK

    @property
    def held(self) -> bool:
        """Something waits for what follows: call `pause` when nothing does."""
        return len(self._held) > self._given

    @property
    def open(self) -> bool:
        """No answer so far, and one may still come at once."""
        return bool(self.asked) and self.light is None and self.left > 0.0

    @property
    def left(self) -> float:
        """Seconds for which the first frame can still hope for an answer."""
        return self.asked + SOON - self._clock()

    def take(self, data: bytes) -> bytes:
        """Everything but an answer."""
        if not self.asked:
            return data
        data, self._held, self._pauses = self._held + data, b"", 0
        if self._given and not _may_begin(data):
            data, self._given = data[self._given :], 0
        passed = b""
        while (at := data.find(HEAD)) >= 0:
            self._given = 0
            passed += data[:at]
            end = _end(data, at + len(HEAD))
            if end < 0:
                self._held = data[at:]
                return passed
            self._hear(data[at + len(HEAD) : end])
            data = data[end:]
        if self.light is None and self._clock() - self.asked < WINDOW:
            size = next((n for n in range(len(HEAD) - 1, 0, -1) if data.endswith(HEAD[:n])), 0)
            self._held, data = data[len(data) - size :], data[: len(data) - size]
        if not self._held:
            data, self._given = data[self._given :], 0
        return passed + data

    def pause(self) -> bytes:
        """Nothing came for a moment: what is no answer after all."""
        held = self._held[self._given :]
        self._pauses += 1
        if not held or (len(self._held) > 1 and self._pauses < LOST):
            return b""
        if held == HEAD[:1]:
            self._given = 1  # a key; what follows may show that it was none
            return held
        self._held, self._given = b"", 0
        return b"" if held.startswith(HEAD) else held

    def _hear(self, answer: bytes) -> None:
        if self.light is None:
            self.light = _is_light(answer.rstrip(b"\x07\x1b\\\x9c"))


def _may_begin(data: bytes) -> bool:
    return data.startswith(HEAD) or HEAD.startswith(data)


def _end(data: bytes, start: int) -> int:
    """Where the answer ends that has its body from here; -1 where its end is to come."""
    for at in range(start, len(data)):
        for mark in ENDS:
            if data.startswith(mark, at):
                return at + len(mark)
        if data[at] not in BODY or at - start > LONGEST:
            return -1 if data[at:] == b"\x1b" else at
    return -1


def _is_light(answer: bytes) -> bool | None:
    """By how bright it looks; None where that is no colour."""
    text = answer.decode("ascii")
    kind, _, rest = text.partition(":")
    parts = rest.split("/")[:3]
    if text.startswith("#") and len(text) % 3 == 1:
        size = len(text) // 3
        parts = [text[1 + n * size : 1 + (n + 1) * size] for n in range(3)]
    elif kind not in ("rgb", "rgba"):
        return None
    try:
        red, green, blue = (int(part, 16) / ((1 << 4 * len(part)) - 1) for part in parts)
    except (ValueError, ZeroDivisionError):
        return None
    return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
