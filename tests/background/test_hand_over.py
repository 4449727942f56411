"""`/bg` in a real terminal: the same session goes on without the screen, with what waited."""

from __future__ import annotations

import re

import pytest

from tests.background.attached import Behind, behind, lives
from tests.e2e.program import Program
from tests.e2e.stage import choose, say
from tests.fakes.terminal import Terminal

pytestmark = pytest.mark.e2e


def gone(b: Behind, terminal: Terminal) -> None:
    """The screen has been left, and has said where the session is."""
    assert terminal.wait_exit() == 0, terminal.text()
    found = re.search(r"agent attach (\S+)", terminal.wait_for("It goes on"))
    assert found, terminal.text()
    b.id = found[1]
    b.listens()


def test_a_session_goes_on_without_its_screen(program: Program) -> None:
    with behind(program, "say: Here.\n---\nsay: Still here.\n") as b:
        one = b.screen()
        say(one, "/bg")
        one.wait_for("nothing to go on with yet")
        say(one, "Are you there?")
        one.wait_for("Here.")
        say(one, "/bg")
        gone(b, one)
        assert lives(b.pid)
        two = b.attach("Are you there?", "Here.")
        say(two, "And now?")
        two.wait_for("Still here.")


def test_at_the_end_of_the_turn_with_what_waits(program: Program) -> None:
    run = 'call: Bash {"command": "until test -e go; do sleep 0.1; done"}\n---\n'
    with behind(program, f"{run}say: First done.\n---\nsay: Second done.\n") as b:
        one = b.screen()
        say(one, "First.")
        one.wait_for("until test", "Yes, once")
        choose(one, "y")
        say(one, "Second.")
        say(one, "/bg")
        one.wait_for("Once this turn has ended")
        (program.project / "go").touch()
        gone(b, one)
        two = b.attach("First done.", "Second done.")
        assert two.text().index("First done.") < two.text().index("Second done.")


def test_what_cannot_go_along_is_named_first(program: Program) -> None:
    run = 'call: Bash {"command": "sleep 600", "run_in_background": true}\n---\n'
    with behind(program, f"{run}say: It runs.\n") as b:
        one = b.screen()
        say(one, "Run it.")
        one.wait_for("sleep 600", "Yes, once")
        choose(one, "y")
        one.wait_for("It runs.")
        say(one, "/bg")
        one.wait_for("cannot go along", "sleep 600", "Stay here")
        one.press("escape")
        one.wait_gone("cannot go along")
        say(one, "/bg")
        one.wait_for("cannot go along")
        one.press("down", "enter")
        gone(b, one)
        assert lives(b.pid)
