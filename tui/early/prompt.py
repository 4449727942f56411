"""The prompt of the first moments: keys from exec on, shown before the framework is loaded.

The terminal is raw from here until the screen gives it back. What is typed is taken up once: shown
here while it is certain what the prompt would make of it, and handed over where it is not.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
from _thread import RLock, allocate_lock, start_new_thread
from time import monotonic

from gatewright.tui.early.certain import first_frame
from gatewright.tui.early.ground import PAUSE, Ground
from gatewright.tui.early.typed import Typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType
    from typing import Any

    from gatewright.tui.early.frame import Frame

ON = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?7l"
ALTERNATE = "\x1b[?1049h"  # which the framework need not ask for again
OFF = "\x1b[?2004l\x1b[?7h\x1b[?1049l\x1b[?25h"
ALL_OFF = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[<u" + OFF
SLOW = (termios.B300, termios.B1200, termios.B2400, termios.B4800, termios.B9600, termios.B19200)
AT_ONCE = 0.001  # seconds after which an import lets a key through
USUAL = 0.005
MOST = 4096  # bytes of input at once
MOST_LEFT = 1 << 20  # bytes that are kept for the prompt
CANCEL = b"\x03"
ENOUGH = 3  # of them, and nobody waits for the screen


class Early:
    """Begins raw at once; `frame` is None where nothing may be painted yet."""

    def __init__(self, before: list[Any]) -> None:
        self.before = before  # how the terminal was
        self.frame: Frame | None = None
        self.left: list[tuple[float, bytes]] = []  # for the prompt, and when it came
        self.ground = Ground()
        self.painted = False  # the alternate screen is ours to leave
        self._typed = Typed(0)
        self._kept = self._cancels = 0
        self._held = RLock()  # a signal may find its own thread in here
        self._reading = allocate_lock()  # held while the thread here reads
        self._wake = os.pipe()
        self._over = False  # somebody has the keys
        self._driven = False  # the framework's driver has the terminal

    def begin(self, env: Mapping[str, str]) -> None:
        """Paint where that is certain, then read in a thread."""
        for number in (signal.SIGTERM, signal.SIGHUP):  # first: from now on there is something
            signal.signal(number, self._die)  # to give back
        early = os.read(0, MOST) if select.select([0], [], [], 0)[0] else b""
        columns, rows = os.get_terminal_size(1)
        if self.before[5] not in SLOW:
            self.frame = first_frame(env, columns, rows)
        if self.frame is not None:
            self._typed = Typed(self.frame.room)
            self.painted = True
            ask = self.ground.ask() if self.frame.plain else ""
            self._write(ask + ON + self.frame.whole("", 0))
        # until now the line ended at its Enter, and its end was a mark
        self._take(early.replace(b"\n", b"\r").replace(b"\0", b"\x04"))
        signal.signal(signal.SIGCONT, self._go_on)
        sys.setswitchinterval(AT_ONCE)
        self._reading.acquire()
        start_new_thread(self._read, ())

    def _read(self) -> None:
        try:
            while self._wake[0] not in (ready := self._ready()):
                if not ready:
                    self._take(self._pause())
                    continue
                data = os.read(0, MOST)
                if not data:  # the terminal is gone: the screen will find out
                    return
                self._take(self.heard(data))
                if self._kept > MOST_LEFT:  # the kernel holds the rest back
                    return
        except OSError:
            return
        finally:
            self._reading.release()

    def _ready(self) -> list[int]:
        """Which end has something; none where it is time for what does not come."""
        hopes = self.frame is not None and self.frame.plain
        wait = max(0.0, self.ground.left) if hopes else PAUSE if self.ground.held else None
        return select.select([0, self._wake[0]], [], [], wait)[0]

    def _pause(self) -> bytes:
        if self.frame is not None and self.frame.plain:
            self._settle()
            return b""
        return self.ground.pause()

    def heard(self, data: bytes) -> bytes:
        """What came without what the terminal says of its background, which counts at once."""
        before = self.ground.light
        rest = self.ground.take(data)
        if self.ground.light != before:
            self._settle()
        return rest

    def _settle(self) -> None:
        """The colours are known, or are taken for known."""
        with self._held:
            frame, light = self.frame, self.ground.light is True
            if frame is not None and frame.settle(light=light) and not self._driven:
                self._write(frame.whole(self._typed.text, self._typed.at))

    def _take(self, data: bytes) -> None:
        rest = self.take(data)
        if rest:
            self.left.append((monotonic(), rest))
            self._kept += len(rest)
            self._cancels += rest.count(CANCEL)
            if self._cancels >= ENOUGH:
                os.kill(os.getpid(), signal.SIGINT)

    def take(self, data: bytes) -> bytes:
        """Show what is ours of what was typed; the rest is for the prompt."""
        with self._held:
            if self._over:
                return data
            before = (self._typed.text, self._typed.at)
            rest = self._typed.feed(data, monotonic())
            if self.frame is not None and before != (self._typed.text, self._typed.at):
                self._show(self.frame)
            return rest

    def _show(self, frame: Frame) -> None:
        if os.get_terminal_size(1) != (frame.columns, frame.rows):
            self.frame = None  # the screen paints anew, with what is typed
        else:
            self._write(frame.prompt(self._typed.text, self._typed.at))

    def drive(self) -> None:
        """The framework reads and writes from now on; `take` and `finish` go on."""
        os.write(self._wake[1], b"x")
        with self._reading:
            if self.frame is not None and self.frame.plain:
                self._settle()
            self._driven = True
        for end in self._wake:
            os.close(end)

    def finish(self) -> Typed:
        """Nothing is shown here any more: the prompt has what was typed."""
        with self._held:
            self._over = True
            sys.setswitchinterval(USUAL)
            return self._typed

    def close(self) -> None:
        """Give the terminal back, unless the framework has it and does so itself."""
        if self._driven:
            return
        self.drive()
        self.finish()
        while self.ground.open and select.select([0], [], [], self.ground.left)[0]:
            if not (said := os.read(0, MOST)):
                break
            self.ground.take(said)  # else a shell would be told the answer
        self._give_back(OFF)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCONT):
            signal.signal(number, signal.SIG_DFL)

    def _give_back(self, off: str) -> None:
        if self.painted or off is ALL_OFF:
            self._write(off)
        termios.tcsetattr(0, termios.TCSANOW, self.before)

    def _die(self, number: int, _frame: FrameType | None) -> None:
        self._give_back(ALL_OFF if self._driven else OFF)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _go_on(self, _number: int, _frame: FrameType | None) -> None:
        """Somebody else had the terminal meanwhile."""
        with self._held:
            make_raw()
            if self.frame is not None and not self._over:
                self._write(ON + self.frame.whole(self._typed.text, self._typed.at))

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(1, data) :]


def make_raw() -> None:
    """As the framework's driver will have it."""
    raw = termios.tcgetattr(0)
    raw[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
    raw[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    raw[6][termios.VMIN] = 1
    termios.tcsetattr(0, termios.TCSANOW, raw)


def begin(env: Mapping[str, str]) -> Early | None:
    """None where there is no terminal at both ends, or one that cannot show a screen."""
    if env.get("TERM", "dumb") == "dumb" or env.get("TEXTUAL_ALLOW_SIGNALS"):
        return None
    try:
        before = termios.tcgetattr(0)
        if not os.isatty(1) or os.tcgetpgrp(0) != os.getpgrp():
            return None
        make_raw()
    except (OSError, termios.error):
        return None
    early = Early(before)
    try:
        early.begin(env)
    except OSError:
        termios.tcsetattr(0, termios.TCSANOW, before)
        return None
    return early
