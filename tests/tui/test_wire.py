"""A terminal that reads slower than it is written to."""

from __future__ import annotations

import os
import pty
import select
import threading
import time
import tty
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gatewright.tui.terminal.wire import FRESH, Wire, open_wire
from tests.fakes.waiting import comes

BEHIND = 2.0  # seconds of reading that are made up for: a busy machine wakes us late
LONG = "".join(f"line {number}\r\n" for number in range(8000))


@dataclass
class Reader:
    """The terminal's side: takes `rate` bytes a second, in small pieces."""

    wire: Wire
    rate: float
    got: bytearray = field(default_factory=bytearray)
    speeds: list[float] = field(default_factory=list[float])
    ended: bool = False

    def read(self, master: int) -> None:
        due = time.monotonic()
        while not self.ended:
            if not select.select((master,), (), (), 0.02)[0]:
                due = max(due, time.monotonic())
                continue
            due = max(due, time.monotonic() - BEHIND)
            data = os.read(master, max(64, int(self.rate / 20)))
            self.got += data
            due += len(data) / self.rate
            time.sleep(max(0.0, due - time.monotonic()))

    def until(self, end: bytes) -> bool:
        return comes(lambda: end in self.got)


@contextmanager
def reader(rate: float) -> Generator[Reader]:
    master, slave = pty.openpty()
    tty.setraw(slave)
    speeds: list[float] = []
    wire = open_wire(slave, speeds.append)
    assert wire is not None
    made = Reader(wire, rate, speeds=speeds)
    thread = threading.Thread(target=made.read, args=(master,))
    thread.start()
    try:
        yield made
    finally:
        made.ended = True
        thread.join()
        wire.close()
        os.close(slave)
        os.close(master)


def test_a_fast_terminal_gets_every_byte() -> None:
    with reader(5_000_000) as terminal:
        terminal.wire.write(LONG)
        terminal.wire.write("END")
        assert terminal.until(b"END")
        assert bytes(terminal.got) == LONG.encode() + b"END"
        assert not terminal.speeds


def test_a_slow_terminal_is_measured_and_gets_what_is_new() -> None:
    with reader(4000) as terminal:
        begun = time.monotonic()
        terminal.wire.write(LONG)
        assert time.monotonic() - begun < 15, "what is old is not waited for"
        assert len(terminal.speeds) == 1
        assert 1000 < terminal.speeds[0] < 16_000
        terminal.wire.write("NEW")
        assert terminal.until(FRESH + b"NEW"), "what was cut is ended first"
        assert len(terminal.got) < len(LONG) / 2


def test_what_gives_the_terminal_back_is_never_left_out() -> None:
    with reader(20_000) as terminal:
        terminal.wire.last = True
        terminal.wire.write(LONG[:60_000])
        terminal.wire.write("BACK")
        assert terminal.until(b"BACK")
        assert bytes(terminal.got) == LONG[:60_000].encode() + b"BACK"
        assert not terminal.speeds


def test_a_terminal_that_is_gone_ends_nothing() -> None:
    master, slave = pty.openpty()
    wire = open_wire(slave, lambda _: None)
    assert wire is not None
    os.close(master)
    os.close(slave)
    assert wire.write("hello") == 5
    wire.close()


def test_what_is_no_terminal_is_not_opened_again() -> None:
    read, write = os.pipe()
    assert open_wire(write, lambda _: None) is None
    os.close(read)
    os.close(write)
