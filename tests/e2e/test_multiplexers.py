"""The screen inside tmux and GNU screen: real servers, what they show, what they are left with."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest

from tests.e2e.program import AGENT, Program
from tests.fakes.terminal import Terminal
from tests.fakes.waiting import PATIENCE, comes

pytestmark = pytest.mark.e2e

LIMIT = PATIENCE
SIGN = "\u276f"
SHIFT_ENTER = "1b 5b 32 37 3b 32 3b 31 33 7e"  # as xterm says it and tmux hands it on


class Tmux:
    """A server of its own with one window; `stay` keeps the pane after the program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._socket = str(program.home / "tmux")

    def run(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", "-S", self._socket, *words],
            cwd=self._program.project,
            env=self._program.env(TERM="xterm-256color"),
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=LIMIT,
        )
        return done.stdout

    def start(self, command: str, rows: int, columns: int) -> None:
        size = ("-x", str(columns), "-y", str(rows))
        self.run("new-session", "-d", *size, f"{command}; echo BACK; exec cat -v")

    def type(self, text: str) -> None:
        self.run("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def shown(self, *flags: str) -> str:
        return self.run("capture-pane", "-p", *flags)

    def format(self, text: str) -> str:
        return self.run("display-message", "-p", text).strip()

    def until(self, fact: Callable[[str], bool], *flags: str) -> str:
        assert comes(lambda: fact(self.shown(*flags)), LIMIT), self.shown(*flags)
        return self.shown(*flags)

    def wait_for(self, *wanted: str) -> str:
        return self.until(lambda shown: all(text in shown for text in wanted))


@contextmanager
def tmux(program: Program, *, rows: int = 24, columns: int = 90) -> Generator[Tmux]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    server = Tmux(program)
    server.start(f"{AGENT} --model demo", rows, columns)
    try:
        server.wait_for("Ask anything", "demo")
        yield server
    finally:
        server.run("kill-server")


def test_a_talk_inside_tmux(program: Program) -> None:
    with tmux(program) as pane:
        assert pane.format("#{alternate_on} #{mouse_any_flag}") == "1 1"
        pane.type("tour")
        pane.wait_for(f"{SIGN} tour")
        pane.press("Enter")
        pane.wait_for("notes.txt", "context")
        colours = pane.shown("-e")
        assert "38;5;" in colours
        assert "8;2;" not in colours, "nobody said truecolor"


def test_new_lines_come_through_tmux(program: Program) -> None:
    with tmux(program) as pane:
        pane.type("one")
        pane.press("-H", *SHIFT_ENTER.split())
        pane.type("two")
        pane.press("M-Enter")
        pane.type("three")
        shown = pane.wait_for("one", "two", "three")
        rows = [row.strip(f" {SIGN}") for row in shown.splitlines()]
        at = rows.index("one")
        assert rows[at : at + 3] == ["one", "two", "three"]


def test_a_smaller_pane_is_filled(program: Program) -> None:
    with tmux(program) as pane:
        pane.type("a draft")
        pane.wait_for(f"{SIGN} a draft")
        pane.run("resize-window", "-x", "40", "-y", "10")
        shown = pane.until(lambda text: text.splitlines()[-1].lstrip().startswith("default"))
        assert f"{SIGN} a draft" in shown
        assert all(len(row) <= 40 for row in shown.splitlines())


def test_tmux_gets_its_pane_back(program: Program) -> None:
    with tmux(program) as pane:
        pane.press("C-d")
        pane.wait_for("BACK")
        pane.until(lambda _: pane.format("#{alternate_on} #{mouse_any_flag}") == "0 0")
        assert pane.format("#{cursor_flag} #{wrap_flag} #{keypad_flag}") == "1 1 0"
        assert "Ask anything" not in pane.shown()
        pane.type("echo")
        pane.press("Enter")
        pane.until(lambda shown: shown.count("echo") == 2)  # by the terminal, then by cat


def test_inside_gnu_screen(program: Program) -> None:
    if shutil.which("screen") is None:
        pytest.skip("GNU screen is not installed")
    folder = program.home / "screen"
    folder.mkdir(mode=0o700)
    rc = program.home / "screenrc"
    rc.write_text("term screen-256color\naltscreen on\nstartup_message off\n", encoding="utf-8")
    argv = ["screen", "-U", "-c", str(rc), "-S", "story", AGENT, "--model", "demo"]
    env = program.env(SCREENDIR=str(folder), COLORTERM="")
    with Terminal(argv, cwd=program.project, env=env, rows=24, columns=90) as terminal:
        terminal.wait_for("Ask anything", "demo")
        terminal.send("one\x1b\rtwo")
        terminal.wait_for(f"{SIGN} one", "two")
        terminal.press("ctrl+c")
        terminal.wait_for("Ask anything")
        terminal.resize(20, 70)
        terminal.wait_until(lambda text: "Ask anything" in text.splitlines()[-3])
        assert not re.search(rb"[34]8;2;", bytes(terminal.raw))
        terminal.press("ctrl+d")
        assert terminal.wait_exit() == 0
        raw = bytes(terminal.raw)
        for mode in (b"?1003", b"?2004"):
            assert raw.rfind(b"\x1b[" + mode + b"l") > raw.rfind(b"\x1b[" + mode + b"h")
