"""Calling the person: when, how often, in which terminal, and with what text."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Mapping

import pytest

from gatewright.tui.terminal.notify import EVERY, Attention, Ways, notification_sequence, ways_in
from tests.fakes.waiting import lasts, until
from tests.tui.stage import Clock
from tests.tui.test_terminal import child

CALLS = re.compile(rb"\x1b\]9;([^\x00-\x1f\x7f]*)\x07\x1b\]777;notify;agent;([^\x00-\x1f;]*)\x07")
TITLES = re.compile(rb"\x1b\]0;([^\x07\x1b]*)\x07")


def calls(raw: bytes) -> list[str]:
    assert raw.count(b"\x1b]9;") == raw.count(b"\x1b]777;") == len(CALLS.findall(raw))
    return [found[0].decode() for found in CALLS.findall(raw)]


@pytest.mark.e2e
def test_a_question_that_waits_calls_once() -> None:
    with child("asking") as terminal:
        terminal.wait_for("Go-on;")
        began = time.monotonic()
        until(lambda: bool(calls(bytes(terminal.raw))))
        assert time.monotonic() - began > 5
        assert lasts(lambda: len(calls(bytes(terminal.raw))) == 1, 2)
        (called,) = calls(bytes(terminal.raw))
        assert called.startswith("agent: waits for you: Go-on,")
        assert "<U+202E>" in called
        assert b"owned" not in b"".join(TITLES.findall(bytes(terminal.raw)))


@pytest.mark.e2e
def test_the_end_of_a_turn_calls_who_looks_elsewhere() -> None:
    with child("ending") as terminal:
        terminal.wait_for("scripted-1")
        terminal.send("first\r")
        terminal.wait_for("first:")
        terminal.send("\x1b[O")
        terminal.send("second\r")
        terminal.wait_for("second:")
        until(lambda: bool(calls(bytes(terminal.raw))))
        terminal.send("\x1b[I")
        terminal.send("third\r")
        terminal.wait_for("third:")
        terminal.press("ctrl+d")
        assert terminal.wait_exit() == 0
        (called,) = calls(bytes(terminal.raw))
        assert called.startswith("agent: second: Go-on,")
        titles = TITLES.findall(bytes(terminal.raw))
        assert titles[0] == b"agent  harbour"
        assert all(before != after for before, after in itertools.pairwise(titles))


def test_each_question_calls_at_most_once() -> None:
    written: list[str] = []
    clock = Clock()
    attention = Attention(written.append, clock)
    attention.asked(1)
    assert attention.check("one")
    clock.now += 6
    assert not attention.check("one")
    attention.asked(1)  # it is still the first in the queue
    clock.now += 60
    assert not attention.check("one")
    attention.asked(2)
    clock.now += 6
    assert not attention.check("two")
    assert len(written) == 2
    attention.asked(3)
    attention.asked(None)
    clock.now += 6
    assert not attention.check("answered meanwhile")
    assert len(written) == 2


@pytest.mark.parametrize(
    ("env", "chosen", "wanted"),
    [
        ({}, True, EVERY),
        ({}, False, Ways(bell=False, nine=False, seven=False)),
        ({}, "bell", Ways(nine=False, seven=False)),
        ({}, "desktop", Ways(bell=False)),
        ({"TERM_PROGRAM": "WezTerm"}, True, Ways(seven=False)),
        ({"TERM": "xterm-ghostty"}, "desktop", Ways(bell=False, seven=False)),
        ({"TERM": "foot"}, True, Ways(nine=False)),
        ({"VTE_VERSION": "7600"}, True, Ways(nine=False)),
        ({"TMUX": "/tmp/x", "TERM": "screen"}, True, Ways(seven=False, wrapped=True)),
    ],
)
def test_each_terminal_shows_it_once(
    env: Mapping[str, str], chosen: bool | str, wanted: Ways
) -> None:
    assert ways_in(env, chosen) == wanted


def test_what_tmux_lets_through() -> None:
    written = notification_sequence("agent", "done", Ways(seven=False, wrapped=True))
    assert written == "\x07\x1bPtmux;\x1b\x1b]9;agent: done\x07\x1b\\"
