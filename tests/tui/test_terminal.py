"""The terminal in a real pty: what is written to it, and that it is given back by every exit."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.examples import some
from tests.fakes.terminal import Terminal
from tests.fakes.waiting import PATIENCE, lasts, until

ROOT = Path(__file__).resolve().parents[2]
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": str(ROOT)}
READY = "scripted-1"

pytestmark = pytest.mark.e2e


@contextmanager
def child(what: str, *, rows: int = 24, columns: int = 80, **env: str) -> Generator[Terminal]:
    argv = [sys.executable, "-m", "tests.tui.child", what]
    terminal = Terminal(argv, cwd=ROOT, env={**ENV, **env}, rows=rows, columns=columns)
    with terminal:
        yield terminal


def restored(raw: bytes) -> None:
    """Every mode that was switched on is off at the end, and the cursor is visible."""
    for on, off in (
        (b"\x1b[?1049h", b"\x1b[?1049l"),
        (b"\x1b[?25l", b"\x1b[?25h"),
        (b"\x1b[?1000h", b"\x1b[?1000l"),
        (b"\x1b[?1003h", b"\x1b[?1003l"),
        (b"\x1b[?2004h", b"\x1b[?2004l"),
        (b"\x1b[?1004h", b"\x1b[?1004l"),
        (b"\x1b[?7l", b"\x1b[?7h"),
        (b"\x1b[>", b"\x1b[<u"),
    ):
        assert on in raw, on
        assert raw.rindex(off) > raw.rindex(on), off


def test_leaving_gives_the_terminal_back_and_says_how_to_go_on() -> None:
    with child("prose") as terminal:
        terminal.wait_for(READY, "the notes")
        terminal.press("ctrl+d")
        assert terminal.wait_exit() == 0
        shown = terminal.wait_for("agent --resume 0198c0de")
        assert "> the lease test is flaky" in shown
        restored(bytes(terminal.raw))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_give_the_terminal_back(number: signal.Signals) -> None:
    with child("prose") as terminal:
        terminal.wait_for(READY)
        terminal.kill(number)
        assert terminal.wait_exit() == 128 + number
        terminal.wait_for("agent --resume")
        restored(bytes(terminal.raw))


def test_a_defect_is_told_and_the_prompt_lives_on() -> None:
    with child("crash") as terminal:
        terminal.wait_for("The screen failed: RuntimeError('a defect')")
        terminal.send("hi")
        terminal.wait_for("\u276f hi")
        terminal.press("ctrl+c", "ctrl+d")
        terminal.wait_exit()
        restored(bytes(terminal.raw))


def test_a_defect_that_ends_it_is_told_and_no_success() -> None:
    with child("broken") as terminal:
        assert terminal.wait_exit() == 1
        terminal.wait_for("The screen failed: RuntimeError('a defect')")
        restored(bytes(terminal.raw))


def test_what_libraries_write_to_the_error_stream_never_shows() -> None:
    with child("noise") as terminal:
        terminal.wait_for(READY)
        terminal.press("ctrl+d")
        terminal.wait_exit()
        assert b"NOISE" not in terminal.raw


def test_the_screen_works_without_an_error_stream() -> None:
    """The screen is written to the terminal, whatever descriptor 2 is."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.tui.child", "empty"],
        stdin=slave,
        stdout=slave,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**ENV, "TERM": "xterm-256color"},
        start_new_session=True,
    ) as process:
        seen, end = b"", time.monotonic() + PATIENCE
        while READY.encode() not in seen and time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                seen += os.read(master, 65536)
        os.write(master, b"\x04")
        while process.poll() is None and time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                seen += os.read(master, 65536)
        assert READY.encode() in seen
        assert process.wait(PATIENCE) == 0
    os.close(master)
    os.close(slave)


def test_nothing_is_written_while_nothing_happens() -> None:
    with child("tools") as terminal:
        terminal.wait_for(READY)
        quiet = _settle(terminal)
        assert lasts(lambda: len(terminal.raw) == quiet, 2)


def _settle(terminal: Terminal) -> int:
    """The size of the output once it stopped growing."""
    end = time.monotonic() + PATIENCE
    while not _lasts_at(terminal, size := len(terminal.raw)):
        assert time.monotonic() < end
    return size


def _lasts_at(terminal: Terminal, size: int) -> bool:
    return lasts(lambda: len(terminal.raw) == size, 0.5)


def test_echo_and_line_mode_are_as_before() -> None:
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.tui.child", "empty"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**ENV, "TERM": "xterm-256color"},
        start_new_session=True,
    ) as process:
        seen, end = b"", time.monotonic() + PATIENCE
        while READY.encode() not in seen and time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                seen += os.read(master, 65536)
        assert termios.tcgetattr(slave) != before
        process.send_signal(signal.SIGTERM)
        while process.poll() is None and time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                os.read(master, 65536)
        process.wait(PATIENCE)
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)


def _seen_after(ended: Path, rate: int, speed: int = termios.B38400) -> float:
    """Seconds that a line of so many bytes a second needs from the end of a fast stream until it is
    seen. They are counted in bytes: on a busy machine everything takes longer."""
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[4] = attributes[5] = speed
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.tui.child", "stream"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**ENV, "TERM": "xterm-256color", "LINES": "24", "COLUMNS": "80", "ENDED": str(ended)},
        start_new_session=True,
    ) as process:
        os.close(slave)
        seen, before, end = b"", 0, time.monotonic() + 5 * PATIENCE
        while b"THE-END" not in seen and time.monotonic() < end:
            before = before if ended.exists() else len(seen)
            if select.select([master], [], [], 0.1)[0]:
                seen += os.read(master, rate // 50)
            time.sleep(0.02)
        process.kill()
    os.close(master)
    assert b"THE-END" in seen
    return (len(seen) - before) / rate


@pytest.mark.timeout(6 * PATIENCE)
def test_a_slow_line_sees_less_but_not_later(tmp_path: Path) -> None:
    """A terminal that reads 40 kB/s: the end of a fast stream comes soon after it happened."""
    assert _seen_after(tmp_path / "ended", 40_000) < 10


@pytest.mark.timeout(6 * PATIENCE)
def test_a_line_of_unknown_speed_is_measured(tmp_path: Path) -> None:
    """A modem's 960 bytes a second, after which the kernel held 20 seconds of old pictures."""
    assert _seen_after(tmp_path / "ended", 960) < 15


@pytest.mark.timeout(6 * PATIENCE)
def test_a_serial_line_is_never_given_more_than_it_carries(tmp_path: Path) -> None:
    """It says its speed: of a stream four times as large only what is current is painted."""
    assert _seen_after(tmp_path / "ended", 1_920, termios.B19200) < 10


@pytest.mark.parametrize(("rows", "columns"), [(10, 40), (60, 300)])
def test_extreme_sizes(rows: int, columns: int) -> None:
    with child("permission", rows=rows, columns=columns) as terminal:
        terminal.wait_for("Yes, once", "npm test")
        terminal.resize(30, 100)
        terminal.wait_for("Run this command?", READY)


@pytest.mark.parametrize("scene", some(["tools", "permission", "edit"], 3))
def test_no_colour_means_none(scene: str) -> None:
    """Neither colours nor greys nor painted backgrounds: attributes alone."""
    with child(scene, NO_COLOR="1") as terminal:
        terminal.wait_for(READY)
        terminal.send("hi")
        terminal.wait_for("\u276f hi")
        _settle(terminal)
        painted = set(re.findall(rb"\x1b\[([0-9;]*)m", bytes(terminal.raw)))
        used = {int(number) for codes in painted for number in codes.split(b";") if number}
        assert used <= {0, 1, 3, 4, 7, 9}, used
        assert 7 in used or scene != "tools", "the cursor is seen where the prompt has it"


@pytest.mark.parametrize("gap", some([0.12, 0.3], 2))
def test_a_sentence_typed_over_a_question_is_a_draft(gap: float) -> None:
    with child("permission") as terminal:
        terminal.wait_for("Yes, once", "1 of 2")
        for character in "fix the typo":
            terminal.send(character)
            terminal.look(gap)
        terminal.wait_for("\u276f fix the typo", "1 of 2")
        terminal.press("enter")
        terminal.wait_for("Yes, once", "1 of 2", "\u276f fix the typo")
        terminal.look()
        terminal.press("y")
        terminal.wait_for("1 of 2", "\u276f fix the typoy", "choose with the arrows")
        terminal.press("ctrl+u")
        terminal.wait_gone("fix the typo")
        terminal.press_until_gone("y", "1 of 2")


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_stopped_and_continued_it_is_painted_again(number: signal.Signals) -> None:
    """The shell has the terminal meanwhile; afterwards keys and modes are as before."""
    whole = (READY, "the notes", "│ Renew before", "Ask anything")
    with child("prose") as terminal:
        terminal.wait_for(*whole)
        terminal.kill(number)
        until(lambda: _state(terminal.pid) == "T")
        if number == signal.SIGTSTP:
            terminal.wait_gone("the notes")
            restored(bytes(terminal.raw))
        at = len(terminal.raw)
        terminal.kill(signal.SIGCONT)
        modes = (b"\x1b[?1049h", b"\x1b[?2004h", b"\x1b[?1000h", b"\x1b[?25l")
        until(lambda: all(mode in terminal.raw[at:] for mode in modes))
        terminal.wait_for(*whole)
        terminal.send("hi")
        terminal.wait_for("\u276f hi")
        terminal.press("ctrl+c", "ctrl+d")
        assert terminal.wait_exit() == 0
        restored(bytes(terminal.raw))


def test_a_burst_of_interrupts_gives_the_terminal_back() -> None:
    with child("prose") as terminal:
        terminal.wait_for(READY)
        for _ in range(30):
            terminal.kill(signal.SIGINT)
        assert terminal.wait_exit() in (0, 130)
        restored(bytes(terminal.raw))


@pytest.mark.parametrize("term", some(["xterm-256color", "screen-256color", "tmux-256color"], 3))
def test_without_a_word_of_truecolor_there_are_256_colours(term: str) -> None:
    with child("edit", TERM=term, COLORTERM="") as terminal:
        terminal.wait_for(READY)
        assert b"38;5;" in terminal.raw
        assert not re.search(rb"[34]8;2;", bytes(terminal.raw))


def _state(pid: int) -> str:
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return stat.rpartition(")")[2].split()[0]


def test_what_is_typed_before_the_screen_is_there_is_the_draft() -> None:
    with child("empty") as terminal:
        terminal.send("quick fingers")
        terminal.wait_for(READY, "\u276f quick fingers")
        terminal.send(" go on")
        terminal.wait_for("\u276f quick fingers go on")


@pytest.mark.parametrize(
    "sequence",
    some(["\x1b[27;2;13~", "\x1b[13;2u", "\x1b[27;3;13~", "\x1bOM", "\x1b\r", "\n"], 3),
)
def test_every_way_a_terminal_says_new_line(sequence: str) -> None:
    with child("empty") as terminal:
        terminal.wait_for(READY)
        terminal.send(f"one{sequence}two")
        terminal.wait_for("\u276f one\n", "   two")
