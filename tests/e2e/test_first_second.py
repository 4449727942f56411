"""The first second of the program: nothing that is typed from exec on is lost or comes twice.

`python -m tests.e2e.first_second` plays ten thousand of them.
"""

from __future__ import annotations

import os
import pty
import signal
import string
import sys
import termios
import tty
from dataclasses import replace

import pytest

from tests.e2e.first_second import ENVIRONMENT, Line, one, type_fast
from tests.e2e.program import AGENT, Program
from tests.fakes.examples import many
from tests.fakes.terminal import Terminal

LETTERS = string.ascii_letters[:30]


@pytest.mark.parametrize("seed", range(many(24)))
def test_random_first_seconds(program: Program, seed: int) -> None:
    assert one(program, seed) == ""


@pytest.mark.parametrize("seed", (1, 2))
def test_those_of_a_real_start(program: Program, seed: int) -> None:
    assert one(program.cold, seed) == ""


def test_a_wrong_line_would_be_found(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Line.write

    def louder(line: Line, text: str) -> None:
        write(line, text + "!")

    monkeypatch.setattr(Line, "write", louder)
    monkeypatch.setattr("tests.e2e.first_second.SETTLED", 1.0)
    assert "wanted" in one(program, 3)


def test_letters_typed_from_exec_on_are_all_there(program: Program) -> None:
    """Distinct ones, as fast as a burst of a fast hand."""
    with begun(program.cold) as terminal:
        type_fast(terminal, LETTERS)
        terminal.wait_for(f"\u276f {LETTERS}")


def begun(program: Program, **env: str) -> Terminal:
    return program.terminal(env={**ENVIRONMENT, **env})


def test_enter_before_all_else_sends(program: Program) -> None:
    """The line was not raw yet: Enter came as a line's end."""
    settings = program.home / ".gatewright" / "settings.json"
    settings.write_text('{"model": "demo", "smallModel": "demo"}', encoding="utf-8")
    with program.cold.terminal() as terminal:
        terminal.send("hello\r")
        terminal.wait_until(lambda screen: "hello" in screen and "\u276f hello" not in screen)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_terminal_back(program: Program, number: signal.Signals) -> None:
    with begun(program.cold) as terminal:
        terminal.wait_for("\u276f")
        terminal.kill(number)
        terminal.wait_exit()
        assert terminal.raw.rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"\x1b[?1049h")
        assert terminal.cooked()


def test_a_start_that_fails_says_so_where_it_is_read(program: Program) -> None:
    """On the person's own screen, not on the one that goes away."""
    text = "import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); os.execv(%r, %r)"
    argv = (sys.executable, "-c", text % (AGENT, [AGENT]))
    with replace(program.cold, argv=argv).terminal() as terminal:
        terminal.wait_for("no longer there")
        assert terminal.wait_exit() == 1
        assert terminal.cooked()


def test_what_is_typed_where_nothing_of_ours_is_painted_is_there_too(program: Program) -> None:
    with begun(program.cold, NO_COLOR="1") as terminal:
        terminal.send("abc")
        terminal.wait_for("\u276f abc")
        assert terminal.raw.count(b"\x1b[?1049h") == 1


def test_the_alternate_screen_is_asked_for_once(program: Program) -> None:
    """Asked for again, some terminals would show an empty one."""
    with begun(program.cold) as terminal:
        terminal.wait_for("\u276f", "default")
        assert terminal.raw.count(b"\x1b[?1049h") == 1


def test_what_a_line_that_is_not_raw_takes_back_is_known() -> None:
    """The kernel edits it: Backspace there takes back any key, so its effect is not asked for."""
    master, slave = pty.openpty()
    try:
        os.write(master, b"J\x05\x7f")
        echoed = b""
        while b"\b \b" not in echoed:  # the kernel takes keys up in its own time
            echoed += os.read(master, 100)
        tty.setraw(slave, termios.TCSANOW)
        assert os.read(slave, 100) == b"J"
    finally:
        os.close(master)
        os.close(slave)
