"""What is on its way over a line that says its speed."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Generator

import pytest

from gatewright.tui.baud import Baud


@pytest.fixture
def line() -> Generator[int]:
    master, slave = pty.openpty()
    yield slave
    os.close(master)
    os.close(slave)


def speed(fd: int, value: int) -> None:
    attributes = termios.tcgetattr(fd)
    attributes[4] = attributes[5] = value
    termios.tcsetattr(fd, termios.TCSANOW, attributes)


def test_a_serial_line_is_behind_until_all_has_arrived(line: int) -> None:
    speed(line, termios.B9600)
    now = 100.0
    baud = Baud(line, monotonic=lambda: now)
    assert not baud.behind
    baud.count("x" * 960)
    assert baud.behind
    now += 0.9
    assert not baud.behind
    baud.count("\u2584" * 320)  # three bytes each
    assert baud.behind


def test_other_terminals_say_nothing(line: int) -> None:
    baud = Baud(line)
    baud.count("x" * 1_000_000)
    assert not baud.behind


def test_no_terminal_is_never_behind() -> None:
    read, write = os.pipe()
    baud = Baud(write)
    baud.count("x" * 1_000_000)
    assert not baud.behind
    os.close(read)
    os.close(write)


def test_a_measured_line_is_paced_for_a_while(line: int) -> None:
    now = 100.0
    baud = Baud(line, monotonic=lambda: now)
    for _ in range(2):
        baud.measured(4096.0)
        assert baud.behind
        now += 0.9
        assert not baud.behind
    now += 50
    baud.count("x" * 4096)
    assert baud.behind
    now += 60
    assert not baud.behind
    baud.count("x" * 1_000_000)
    assert not baud.behind


def test_a_line_that_was_interrupted_once_is_soon_free_again(line: int) -> None:
    now = 100.0
    baud = Baud(line, monotonic=lambda: now)
    baud.measured(0.0)
    assert baud.behind
    waits: list[bool] = []
    for _ in range(6):
        now += 3.1
        waits.append(baud.behind)
    assert not any(waits[1:])
    baud.count("x" * 1_000_000)
    assert not baud.behind
