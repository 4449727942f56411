"""The real program in a real pty, its screen read by a terminal emulator.

A thread drains the pty all the time, so the program never blocks on output; every wait is for a
fact on the screen, with a limit, and a failure shows the screen.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

from tests.fakes.waiting import PATIENCE
from tests.fakes.warm import Nursery, Place

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "delete": "\x1b[3~",
    **{f"ctrl+{chr(96 + n)}": chr(n) for n in range(1, 27)},
}

# What modern programs send and the emulator would print as text: queries, keyboard protocols,
# styled underlines, device control strings and application commands.
UNKNOWN = re.compile(
    rb"\x1b\[[<=>][0-9;:]*[ -/]*[@-~]"
    rb"|\x1b\[\?[0-9;]*(?:[$][@-~]|[@-gi-km-~])"
    rb"|\x1b\[[0-9;]*:[0-9;:]*m"
    rb"|\x1b[P_^][^\x1b]*\x1b\\"
)
ALTERNATE = re.compile(rb"(\x1b\[\?1049[hl])")
UNFINISHED = re.compile(rb"\x1b(?:|\[[0-9;:?<=>$ ]*|[P_^\]][^\x1b\x07]*\x1b?)\Z")

SIGN = "\u276f"  # before the prompt
AGAIN = 0.1  # seconds until a fact is looked at without news: a file may be what is waited for
READING = 0.8  # seconds a person looks at a question before answering it

# Seconds after which a key that has done nothing to be seen came too early; a letter is seen in the
# draft then, where there is one.
NOTHING, NO_LETTER = 5.0, 20.0

LAST_WORDS = 2.0  # seconds for what is on its way; somebody else may hold the terminal open


class Terminal:
    """Start `argv` in a terminal of that size; use it as a context manager."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        rows: int = 24,
        columns: int = 80,
        nursery: Nursery | None = None,
    ) -> None:
        self._main = pyte.Screen(columns, rows)
        self._alternate = pyte.Screen(columns, rows)
        self._show(self._main)
        self._held = b""
        self._news = threading.Condition(threading.RLock())
        self._closed = False
        self.raw = bytearray()  # every byte the program wrote
        full = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", **env}
        self._master, slave = pty.openpty()
        self._set_size(rows, columns)
        self.started = time.monotonic()
        self._process = (
            _start(argv, cwd, full, slave)
            if nursery is None
            else nursery.start(argv, Place(str(cwd), full, terminal=True), (slave, slave, slave))
        )
        os.close(slave)
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def screen(self) -> list[str]:
        """What a person sees now, line by line, without trailing blanks."""
        with self._news:
            return [line.rstrip() for line in self._screen.display]

    def holds(self, fact: Callable[[pyte.Screen], bool]) -> bool:
        """Whether something is so of the screen as it is now, with its colours."""
        with self._news:
            return fact(self._screen)

    def cooked(self) -> bool:
        """The line is as a shell wants it."""
        wanted = termios.ICANON | termios.ECHO | termios.ISIG
        modes: int = termios.tcgetattr(self._master)[3]
        return modes & wanted == wanted

    def text(self) -> str:
        return "\n".join(self.screen())

    def send(self, text: str) -> None:
        """Type text as it is."""
        os.write(self._master, text.encode())

    def press(self, *keys: str) -> None:
        """Press named keys (`KEYS`) or single characters."""
        for key in keys:
            self.send(KEYS.get(key, key))

    def look(self, seconds: float = READING) -> None:
        """Do nothing, as hands do between two keys and eyes before an answer.

        Seconds in which the program was to run and the machine did not let it do not count.
        """
        began, withheld = time.monotonic(), self._withheld()
        while (left := began + seconds - time.monotonic()) > 0:
            time.sleep(left)
            now = self._withheld()
            seconds, withheld = min(seconds + max(0.0, now - withheld), PATIENCE), now

    def paste(self, text: str) -> None:
        self.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, rows: int, columns: int) -> None:
        with self._news:
            for screen in (self._main, self._alternate):
                screen.resize(rows, columns)
        self._set_size(rows, columns)

    def wait_for(self, *wanted: str, within: float = PATIENCE) -> str:
        """Wait until all of these are on the screen; returns the screen."""
        self._wait(
            lambda screen: all(text in screen for text in wanted), f"no {wanted} on screen", within
        )
        return self.text()

    def wait_gone(self, unwanted: str, within: float = PATIENCE) -> str:
        """Wait until this is no longer on the screen."""
        self._wait(lambda screen: unwanted not in screen, f"{unwanted!r} stays", within)
        return self.text()

    def press_until_gone(self, key: str, text: str, within: float = PATIENCE) -> str:
        """Read, then press a key until this is gone."""
        return self.press_until(key, lambda screen: text not in screen, f"{text!r} stays", within)

    def press_until(
        self, key: str, fact: Callable[[str], bool], complaint: str, within: float = PATIENCE
    ) -> str:
        """Read, then press a key, again only where it was taken for a draft: it came too early.

        A letter of that draft is taken back, as it would keep the next one from answering. A key
        that is neither is late, not lost: a second one would mean what comes next.
        """
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            self.look()
            if self._led_to(key, fact):
                return self.text()
            self.press("backspace")
            with contextlib.suppress(AssertionError):
                return self.wait_until(fact, READING)
        raise AssertionError(f"{complaint}, whatever is pressed:\n{self.text()}")

    def _led_to(self, key: str, fact: Callable[[str], bool]) -> bool:
        """Whether a key did what is wanted, and is no draft."""
        before, did, letter = self.text(), False, len(key) == 1 and key.isprintable()

        def seen(screen: str) -> bool:
            nonlocal did
            did = fact(screen)
            return did or (letter and drafted(before, screen, key))

        self.press(key)
        with contextlib.suppress(AssertionError):
            self.wait_until(seen, NO_LETTER if letter else NOTHING)
        return did

    def wait_until(self, fact: Callable[[str], bool], within: float = PATIENCE) -> str:
        self._wait(fact, "the awaited screen did not come", within)
        return self.text()

    def wait_exit(self, within: float = PATIENCE) -> int:
        """The exit status; minus the signal's number when a signal ended it. All is read then."""
        try:
            status = self._process.wait(within)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {within} s:\n{self.text()}") from None
        self._thread.join(LAST_WORDS)
        return status

    def kill(self, number: int = signal.SIGKILL) -> None:
        self._process.send_signal(number)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._thread.join(2)
        if not self._thread.is_alive():  # else it would go on reading whatever has that number then
            os.close(self._master)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _wait(self, fact: Callable[[str], bool], complaint: str, within: float) -> None:
        deadline = time.monotonic() + within
        with self._news:
            while not fact(self.text()):
                left = deadline - time.monotonic()
                if left <= 0 or (self._closed and not fact(self.text())):
                    ended = " (the program ended)" if self._closed else f" within {within} s"
                    raise AssertionError(f"{complaint}{ended}:\n{self.text()}")
                self._news.wait(min(left, AGAIN))

    def _withheld(self) -> float:
        """Seconds in which it waited for a processor; where the kernel does not tell, none."""
        try:
            told = Path(f"/proc/{self.pid}/schedstat").read_text(encoding="ascii")
        except OSError:
            return 0.0
        return int(told.split()[1]) / 1e9

    def _drain(self) -> None:
        while chunk := self._read():
            with self._news:
                self.raw += chunk
                self._feed(chunk)
                self._news.notify_all()
        with self._news:
            self._closed = True
            self._news.notify_all()

    def _read(self) -> bytes:
        try:
            return os.read(self._master, 65536)
        except OSError:  # EIO: the last one that had the terminal open is gone
            return b""

    def _set_size(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _feed(self, chunk: bytes) -> None:
        """Feed what the emulator knows; a sequence cut by the read waits for its rest."""
        data = self._held + chunk
        tail = UNFINISHED.search(data)
        cut = tail.start() if tail else len(data)
        self._held = data[cut:]
        for part in ALTERNATE.split(data[:cut]):
            if ALTERNATE.fullmatch(part):
                self._show(self._alternate if part.endswith(b"h") else self._main)
                if self._screen is self._alternate:
                    self._screen.reset()
            else:
                self._stream.feed(UNKNOWN.sub(b"", part))

    def _show(self, screen: pyte.Screen) -> None:
        """A program that leaves the alternate screen gives back what was there before."""
        self._screen = screen
        self._stream = pyte.ByteStream(screen)


def drafted(before: str, now: str, key: str) -> bool:
    """Whether a letter stands at the end of a prompt, where none did."""

    def prompts(screen: str) -> int:
        return sum(row.startswith(SIGN) and row.endswith(key) for row in screen.splitlines())

    return prompts(now) > prompts(before)


def _start(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], slave: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )


def _take_terminal() -> None:
    """In the child: make the pty its controlling terminal, so that Ctrl+C and resizes arrive."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # tests in the background of a shell ignore it
