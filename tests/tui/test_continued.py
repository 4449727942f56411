"""SIGCONT, which comes after a stop: what is typed around it is neither thrown away nor edited."""

from __future__ import annotations

import os
import pty
import signal
import termios
import threading
import tty
from collections.abc import Iterator
from typing import Any

import pytest

from gatewright.tui.terminal.terminal import ScreenDriver


class Typist(threading.Thread):
    """Types while somebody waits for the end of the thread that reads."""

    def __init__(self, master: int) -> None:
        super().__init__()
        self._master = master

    def join(self, timeout: float | None = None) -> None:
        del timeout
        os.write(self._master, b"xy\x7fz")


class Bare(ScreenDriver):
    """The driver without an application; what would begin again says so."""

    def __init__(self, master: int, slave: int) -> None:
        self.fileno = slave
        self.attrs_before: list[Any] | None = termios.tcgetattr(slave)
        tty.setraw(slave)
        self.exit_event = threading.Event()
        self._key_thread = Typist(master)
        self.begun: list[Any] = []

    def stop_application_mode(self) -> None:
        self.disable_input()
        if self.attrs_before is not None:
            termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)

    def close(self) -> None:
        """Nothing is held."""

    def suspend_application_mode(self) -> None:
        self.stop_application_mode()

    def resume_application_mode(self) -> None:
        self.begun.append(termios.tcgetattr(self.fileno)[3])

    def _disable_mouse_support(self) -> None:
        """There is none."""


@pytest.fixture
def line() -> Iterator[tuple[int, int]]:
    before = signal.getsignal(signal.SIGWINCH)
    master, slave = pty.openpty()
    yield master, slave
    signal.signal(signal.SIGWINCH, before)
    os.close(master)
    os.close(slave)


def test_what_is_typed_meanwhile_is_there_as_it_was_typed(line: tuple[int, int]) -> None:
    driver = Bare(*line)
    before = driver.attrs_before
    driver._begin_again()  # pyright: ignore[reportPrivateUsage]
    assert driver.begun[0] & termios.ICANON == 0  # a cooked line would have edited it
    assert os.read(line[1], 100) == b"xy\x7fz"
    assert driver.attrs_before == before  # what is given back at the end


def test_what_is_typed_at_the_very_end_goes_to_nobody(line: tuple[int, int]) -> None:
    driver = Bare(*line)
    driver.stop_application_mode()
    tty.setraw(line[1])
    os.set_blocking(line[1], False)
    with pytest.raises(BlockingIOError):
        os.read(line[1], 100)


def test_a_signal_before_the_screen_begins_is_nothing(line: tuple[int, int]) -> None:
    driver = Bare(*line)
    driver.attrs_before = None
    driver._begin_again()  # pyright: ignore[reportPrivateUsage]
    assert driver.begun == []
    assert not ScreenDriver.__new__(ScreenDriver)._lent  # pyright: ignore[reportPrivateUsage]
