"""Ctrl+Z below a real shell: it gets its terminal, `fg` brings the screen back, no key is lost."""

from __future__ import annotations

import pytest

from tests.e2e.program import AGENT, Program
from tests.fakes.terminal import Terminal

pytestmark = pytest.mark.e2e

SIGN = "\u276f"
SHELL = ("bash", "--noprofile", "--norc", "-i")


def shell(program: Program) -> Terminal:
    """A shell with job control that nothing of the person's own changes."""
    env = program.env(PS1="ready> ", HISTFILE="")
    return Terminal(SHELL, cwd=program.project, env=env, rows=24, columns=80)


def row(terminal: Terminal, text: str) -> None:
    terminal.wait_until(lambda shown: f" {SIGN} {text}" in shown.splitlines())


def test_suspended_and_back_nothing_is_lost(program: Program) -> None:
    with shell(program) as terminal:
        terminal.wait_for("ready>")
        terminal.send(f"{AGENT} --model demo\r")
        terminal.wait_for("Ask anything", "default", "demo")
        terminal.send("say hello")
        row(terminal, "say hello")
        terminal.press("enter")
        terminal.wait_for(" in · ")
        terminal.send("half a")
        row(terminal, "half a")
        before = terminal.screen()
        for _ in range(2):
            terminal.press("ctrl+z")
            shown = terminal.wait_for("Stopped", "ready>")
            assert "half a" not in shown, "the screen is the shell's"
            terminal.send("echo $((6 * 7)) of the shell\r")
            terminal.wait_for("42 of the shell")
            at = len(terminal.raw)
            terminal.send("fg\r")
            row(terminal, "half a")
            terminal.wait_until(lambda _: terminal.screen() == before)
            assert b"\x1b[?1049h" in terminal.raw[at:]
        terminal.press("ctrl+z")
        terminal.wait_for("Stopped", "ready>")
        terminal.send("fg\r draft")  # as fast as a shell can hand over what follows
        row(terminal, "half a draft")
        terminal.press("ctrl+c", "ctrl+d")
        terminal.wait_for("agent --resume", "ready>")
        terminal.send("stty -a | grep -o ' icanon\\| echo ' | sort | tr -d '\\n'; echo .\r")
        terminal.wait_for(" echo  icanon.")


def test_resized_while_the_shell_has_it_the_screen_fits(program: Program) -> None:
    with shell(program) as terminal:
        terminal.wait_for("ready>")
        terminal.send(f"{AGENT} --model demo\r")
        terminal.wait_for("Ask anything", "default", "demo")
        terminal.send("a draft")
        row(terminal, "a draft")
        terminal.press("ctrl+z")
        terminal.wait_for("Stopped", "ready>")
        terminal.resize(30, 100)
        terminal.send("fg\r")
        row(terminal, "a draft")
        terminal.wait_until(lambda shown: "\u2584" * 100 in shown)
        terminal.press("ctrl+c", "ctrl+d")
        terminal.wait_for("ready>")
