"""What stands on the terminal is what painting all of it anew shows, whatever happened before."""

from __future__ import annotations

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import say, screen
from tests.fakes.terminal import Terminal

pytestmark = pytest.mark.e2e

HOME, END = "\x1b[1;5H", "\x1b[1;5F"
QUIET = 0.3  # seconds without a byte
ROW = "{0}. The *row* {0} has `code`, \u6f22\u5b57 and \U0001f600 in it."
ROWS = "\\n".join(ROW.format(n) for n in range(60))
CODE = "```python\\n" + "def f(value: int) -> str:\\n    return 'x'\\n" * 40 + "```"
SCRIPT = f"say: {ROWS}\n---\nsay: {CODE}\nwait: gate\nsay: {ROWS}\n---\nsay: Done.\n"


def quiet(terminal: Terminal) -> None:
    before = -1
    while before != len(terminal.raw):
        before = len(terminal.raw)
        terminal.look(QUIET)


def cells(terminal: Terminal) -> list[list[object]]:
    found: list[list[object]] = []

    def take(screen: object) -> bool:
        shown = screen
        found.extend(
            [shown.buffer[y][x] for x in range(shown.columns)]  # type: ignore[attr-defined]
            for y in range(shown.lines)  # type: ignore[attr-defined]
        )
        return True

    terminal.holds(take)
    return found


def stands(terminal: Terminal) -> None:
    """Nothing is left over, and nothing is missing."""
    terminal.wait_until(lambda text: text.rstrip().rpartition("\n")[2].startswith(" default"))
    quiet(terminal)
    before, written = cells(terminal), len(terminal.raw)
    terminal.press("ctrl+l")
    terminal.wait_until(lambda _: len(terminal.raw) > written + 500)  # all of it is painted
    quiet(terminal)
    after = cells(terminal)
    for y, (row, other) in enumerate(zip(before, after, strict=True)):
        assert row == other, f"row {y}"


def test_nothing_is_left_over(program: Program) -> None:
    with screen(program, SCRIPT) as (terminal, server):
        say(terminal, "Count.")
        terminal.wait_for("row 59")
        for key in ("pageup", "pageup", "pagedown", "pageup", HOME, "pagedown", "pagedown"):
            terminal.press(key)
        stands(terminal)
        terminal.press(END)
        terminal.send("/theme light")
        terminal.wait_for("/theme light")
        terminal.press("enter")
        stands(terminal)
        terminal.resize(20, 61)
        terminal.resize(40, 131)
        terminal.wait_until(lambda text: text.count("\n") == 39 and " default" in text)
        terminal.resize(24, 80)
        stands(terminal)
        say(terminal, "Program.")
        terminal.wait_for("return")
        terminal.resize(28, 99)
        terminal.send("?")
        quiet(terminal)
        terminal.press("escape")
        server.release("gate")
        terminal.wait_for("row 59")
        terminal.press("ctrl+t")  # a second screen over it
        quiet(terminal)
        terminal.press("pageup", "pageup", "escape")
        stands(terminal)
