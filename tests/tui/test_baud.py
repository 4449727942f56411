"""What is on its way over a line that says its speed."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Generator

import pytest

from gatewright.tui.terminal.baud import Baud


@pytest.fixture
def line() -> Generator[int]:
    master, slave = pty.openpty()
    yield slave
    os.close(master)
    os.close(slave)


def _behind(baud: Baud) -> bool:
    """Asked each time: a type checker takes a property for a fact that stays."""
    return baud.behind


def speed(fd: int, value: int) -> None:
    attributes = termios.tcgetattr(fd)
    attributes[4] = attributes[5] = value
    termios.tcsetattr(fd, termios.TCSANOW, attributes)


def test_a_serial_line_is_behind_until_all_has_arrived(line: int) -> None:
    speed(line, termios.B9600)
    now = 100.0
    baud = Baud(line, monotonic=lambda: now)
    assert not _behind(baud)
    baud.count("x" * 960)
    assert _behind(baud)
    now += 0.9
    assert not _behind(baud)
    baud.count("\u2584" * 320)  # three bytes each
    assert _behind(baud)


def test_other_terminals_say_nothing(line: int) -> None:
    baud = Baud(line)
    baud.count("x" * 1_000_000)
    assert not _behind(baud)


def test_no_terminal_is_never_behind() -> None:
    read, write = os.pipe()
    baud = Baud(write)
    baud.count("x" * 1_000_000)
    assert not _behind(baud)
    os.close(read)
    os.close(write)


def test_a_measured_line_is_paced_for_a_while(line: int) -> None:
    now = 100.0
    baud = Baud(line, monotonic=lambda: now)
    for _ in range(2):
        baud.measured(4096.0)
        assert _behind(baud)
        now += 0.9
        assert not _behind(baud)
    now += 50
    baud.count("x" * 4096)
    assert _behind(baud)
    now += 60
    assert not _behind(baud)
    baud.count("x" * 1_000_000)
    assert not _behind(baud)


def test_a_line_that_was_interrupted_once_is_soon_free_again(line: int) -> None:
    now = 100.0
    baud = Baud(line, monotonic=lambda: now)
    baud.measured(0.0)
    assert _behind(baud)
    waits: list[bool] = []
    for _ in range(6):
        now += 3.1
        waits.append(_behind(baud))
    assert not any(waits[1:])
    baud.count("x" * 1_000_000)
    assert not _behind(baud)
