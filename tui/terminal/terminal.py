"""The terminal itself: where the screen is written, what else must not be, how it is given back.

Native libraries and child processes write to descriptor 2; while the screen is up that goes to
the log, and the screen has a descriptor of its own.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import os
import selectors
import signal
import sys
import threading
from io import TextIOWrapper
from typing import Any, cast

from rich.console import RenderableType
from textual import _ansi_sequences, screen
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste, Resize
from textual.geometry import Size
from textual.message import Message

from gatewright.tui.early.certain import asks
from gatewright.tui.early.ground import Ground
from gatewright.tui.early.prompt import ALTERNATE, Early
from gatewright.tui.early.typed import Typed
from gatewright.tui.terminal.baud import Baud
from gatewright.tui.terminal.canvas import Canvas, erases
from gatewright.tui.terminal.input import Input
from gatewright.tui.terminal.wire import open_wire

log = logging.getLogger(__name__)

MAX_LINE = 2000
MAX_READ = 4096  # bytes of input at once
MAX_EARLY = 4096  # keys kept until somebody has the focus
INPUT_WAIT = 0.1  # seconds after which a lone Escape is one
TICK = 1 / 240  # seconds; the framework's sixtieth is what a key would wait for while text streams


class MoreKeys(enum.Enum):
    """Keys that terminals send and the framework's table lacks."""

    ALT_ENTER = "alt+enter"
    SHIFT_ENTER = "shift+enter"


SEQUENCES = {
    "\x1b\r": (MoreKeys.ALT_ENTER,),  # else the Alt is lost and the message is sent
    "\x1bOM": (MoreKeys.SHIFT_ENTER,),
}


def prepare() -> None:
    """Teach the framework more keys, and to paint sooner; streams have a pace of their own."""
    screen.UPDATE_PERIOD = TICK  # type: ignore[misc]  # pyright: ignore
    table = cast("dict[str, Any]", _ansi_sequences.ANSI_SEQUENCES_KEYS)
    for sequence, keys in SEQUENCES.items():
        table.setdefault(sequence, keys)


class GroundTold(Message, bubble=False):
    """The terminal said whether it is light."""

    def __init__(self, *, light: bool) -> None:
        super().__init__()
        self.light = light


class Captured:
    """Descriptor 2 as a stream of log lines, until it is given back."""

    def __init__(self) -> None:
        self._saved = os.dup(2)
        read, write = os.pipe()
        os.dup2(write, 2)
        os.close(write)
        self._thread = threading.Thread(target=self._drain, args=(read,), daemon=True)
        self._thread.start()

    def _drain(self, read: int) -> None:
        with os.fdopen(read, "rb", buffering=0) as stream:
            while chunk := stream.read(65536):
                for raw in chunk.decode("utf-8", "replace").splitlines()[:50]:
                    log.warning("on descriptor 2: %s", raw[:MAX_LINE])

    def release(self) -> None:
        os.dup2(self._saved, 2)  # the write end closes with it: the thread sees the end
        os.close(self._saved)


class ScreenDriver(LinuxDriver):
    """Writes to the terminal by its own descriptor, whatever 1 and 2 are connected to."""

    early: Early | None = None  # who has the terminal before
    _lent = False  # another program has the terminal; a signal may come before all else is set
    _keeps_input = False
    curious = False  # whether the terminal's background matters

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            app, debug=debug, mouse=mouse, size=size
        )
        self._own = own_terminal()
        self._ground = Ground() if self.early is None else self.early.ground
        self._baud = Baud(self._own.fileno())
        self._wire = open_wire(self._own.fileno(), self._slow)
        self._file = cast("TextIOWrapper", self._wire) if self._wire else self._own
        self.canvas = Canvas(erases=erases(os.environ))
        self._captured: Captured | None = None
        self._early: list[Message] | None = []  # None: somebody has the keys
        self._turn = threading.Lock()  # keys come in a thread of their own

    def write(self, data: str) -> None:
        """What is painted while another program has the terminal is painted again afterwards."""
        if data == ALTERNATE and self.early is not None and self.early.painted:
            self.early.painted = False  # it is there: asked for again it would be empty
        elif not self._lent:
            self._baud.count(data)
            super().write(data)

    def run_input_thread(self) -> None:
        """As the framework's, with a reader that nothing ends."""
        source = Input(debug=self._debug)
        if self.early is not None:
            left, self.early.left = self.early.left, []  # once, however often this begins
            for message in source.replay(left, INPUT_WAIT):
                self.process_message(message)
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                messages = source.tick()
                if selector.select(INPUT_WAIT):
                    messages = source.feed(self._typed(self._heard(self._read())))
                elif late := self._ground.pause():
                    messages = source.feed(self._typed(late))
                for message in messages:
                    self.process_message(message)

    def _typed(self, data: bytes) -> bytes:
        """Without what is shown already, until somebody has the keys."""
        return data if self.early is None else self.early.take(data)

    def _heard(self, data: bytes) -> bytes:
        """Without what the terminal says of its background."""
        before = self._ground.light
        data = self._ground.take(data) if self.early is None else self.early.heard(data)
        if self._ground.light != before:
            self._tell_ground()
        return data

    def ask_ground(self) -> None:
        """Ask once whether the terminal is light; it may answer whenever it likes."""
        ready = self._writer_thread is not None and not self._baud.slow
        if ready and not self._ground.asked and asks(os.environ):
            self.write(self._ground.ask())

    def _tell_ground(self) -> None:
        if self._ground.light is not None:
            super().process_message(GroundTold(light=self._ground.light))

    def process_message(self, message: Message) -> None:
        """Keys typed while the screen is being built wait, else the framework drops them."""
        if isinstance(message, Resize):
            self.canvas.forget()  # the terminal has put its rows elsewhere
        with self._turn:
            if self._early is None or not isinstance(message, (Key, Paste)):
                super().process_message(message)
            elif len(self._early) < MAX_EARLY:
                self._early.append(message)

    def send_message(self, message: Message) -> None:
        """As the framework's, without a task for each key."""
        self._loop.call_soon_threadsafe(self._app.post_message, message)

    def size_now(self, told: Size) -> Size:
        """The terminal's size; where it says so itself, that is what it said."""
        return told if self._in_band_window_resize else Size(*self._get_terminal_size())

    def listen(self) -> Typed | None:
        """Somebody has the focus: what was typed before comes first.

        Returns the line that is shown already, once.
        """
        typed = None
        if self.early is not None and self._early is not None:
            typed = self.early.finish()
        with self._turn:
            early, self._early = self._early, None
            for message in early or ():
                super().process_message(message)
        return typed

    def _read(self) -> bytes:
        """What came; a line that is gone says so all the time, a signal says it once."""
        try:
            data = os.read(self.fileno, MAX_READ)
        except OSError:
            data = b""
        if not data:
            self.exit_event.wait(INPUT_WAIT)
        return data

    def suspend_application_mode(self) -> None:
        """Keep the own descriptor, which ends with the program only."""
        self.stop_application_mode()
        super().close()
        self._lent = True

    def _sigcont_application(self, *_: object) -> None:
        """A stop that nobody could prepare for (SIGSTOP) left the terminal to the shell too."""
        if self._lent:
            super()._sigcont_application()  # pyright: ignore[reportUnknownMemberType]
        elif self._auto_restart:
            self._loop.call_soon_threadsafe(self._begin_again)

    def _begin_again(self) -> None:
        """Without a moment in which the line is cooked, or what was typed is thrown away."""
        before = self.attrs_before
        if before is None:
            return  # it has not begun
        self.attrs_before, self._keeps_input = None, True
        self.suspend_application_mode()
        self.attrs_before, self._keeps_input = before, False
        self._must_signal_resume = True
        self.resume_application_mode()
        self.attrs_before = before

    def disable_input(self) -> None:
        """As the framework's, which throws away what was typed and not yet read."""
        if not self._keeps_input:
            super().disable_input()
            return
        signal.signal(signal.SIGWINCH, signal.SIG_DFL)
        self._disable_mouse_support()
        self.exit_event.set()
        if self._key_thread is not None:
            self._key_thread.join()
        self.exit_event.clear()

    def resume_application_mode(self) -> None:
        self._lent = False
        super().resume_application_mode()

    def start_application_mode(self) -> None:
        self.canvas.forget()
        if self._captured is None:
            self._captured = Captured()
        if self._wire is not None:
            self._wire.last = False
        first = self.attrs_before is None
        if first and self.early is not None:
            self.early.drive()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if first and self.early is not None:
            self.attrs_before = self.early.before
        if first and self.curious:
            self._tell_ground()
            self.ask_ground()

    def stop_application_mode(self) -> None:
        if self._wire is not None:
            self._wire.finish()
        super().stop_application_mode()
        if self._captured is not None:
            self._captured.release()
            self._captured = None

    def close(self) -> None:
        super().close()
        with contextlib.suppress(OSError):
            self._own.close()
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _slow(self, pace: float) -> None:
        """In the thread that writes: what was on its way is lost."""
        self.canvas.forget()
        self._baud.measured(pace)
        self._loop.call_soon_threadsafe(self._paint_anew)

    def _paint_anew(self) -> None:
        self.canvas.forget()
        self._app.screen.refresh(repaint=True, layout=True)

    @property
    def behind(self) -> bool:
        """The terminal has not taken what was painted before."""
        thread = self._writer_thread
        queued = 0 if thread is None else thread._queue.qsize()  # pyright: ignore[reportPrivateUsage]
        return queued > 1 or self._baud.behind


def on_canvas(driver: Driver | None, renderable: RenderableType | None) -> RenderableType | None:
    """What is to be written of a frame, where it is known what stands there."""
    if renderable is not None and isinstance(driver, ScreenDriver):
        return driver.canvas.over(renderable)
    return renderable


def adopting(given: Early | None, *, asking: bool = False) -> type[ScreenDriver]:
    """A driver that goes on where the prompt of the first moments stops.

    `asking` is whether the terminal's background matters.
    """

    class Adopting(ScreenDriver):
        early = given
        curious = asking

    return Adopting


def own_terminal() -> TextIOWrapper:
    """A text stream to the terminal that nobody else holds."""
    for descriptor in (1, 2):
        if os.isatty(descriptor):
            return os.fdopen(
                os.dup(descriptor), "w", encoding="utf-8", errors="replace", newline=""
            )
    return cast("TextIOWrapper", sys.__stderr__)
