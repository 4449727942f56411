"""`agent attach` in real terminals: all of the screen works, and nothing depends on it."""

from __future__ import annotations

import pytest

from tests.background.attached import behind, lives
from tests.e2e.program import Program
from tests.e2e.stage import choose, say
from tests.fakes.waiting import until

pytestmark = pytest.mark.e2e

TOUCH = 'call: Bash {"command": "touch made", "description": "Makes it"}\n---\n'


def test_two_look_one_answers_and_both_go_on(program: Program) -> None:
    with behind(program, f"{TOUCH}say: It is made.\n---\nsay: And more.\n") as b:
        b.begin("Make it.")
        one = b.attach("touch made", "Yes, once")
        two = b.attach("touch made", "Yes, once")
        choose(one, "y")
        two.wait_for("answered", "Yes, once", "It is made.")
        one.wait_for("It is made.")
        assert "answered" not in one.text()
        assert (program.project / "made").exists()
        say(two, "More.")
        one.wait_for("And more.")
        one.press("ctrl+d")
        assert one.wait_exit() == 0
        one.wait_for("It goes on", f"agent attach {b.id}")
        assert lives(b.pid)
        say(two, "/stop")
        assert two.wait_exit() == 0
        two.wait_for("agent --resume")
        until(lambda: b.record.get("state") == "stopped", what="its end")


def test_in_the_middle_of_a_turn_what_runs_is_seen(program: Program) -> None:
    run = 'call: Bash {"command": "echo half; sleep 600", "timeout": 600000}\n---\n'
    with behind(program, f"{run}say: Never.\n") as b:
        b.begin("Run it.")
        one = b.attach("sleep 600", "Yes, once")
        choose(one, "y")
        one.wait_for("half")
        one.press("ctrl+d")
        assert one.wait_exit() == 0
        two = b.attach("half", "Run it.")
        two.press("escape")
        two.wait_for("nterrupted")
        say(two, "/mode plan")
        two.wait_for("Mode: plan")


def test_a_viewer_that_is_killed_ends_nothing(program: Program) -> None:
    with behind(program, "say: Here.\n---\nsay: Still here.\n") as b:
        b.begin("Are you there?")
        one = b.attach("Here.")
        one.kill()
        one.wait_exit()
        two = b.attach("Here.")
        two.resize(24, 70)
        say(two, "And now?")
        two.wait_for("Still here.")


def test_a_session_that_is_killed_is_begun_again_from_its_screen(program: Program) -> None:
    with behind(program, "say: Here.\n---\nsay: Again.\n") as b:
        b.begin("Are you there?")
        one = b.attach("Here.")
        b.killed()
        one.wait_for("has ended")
        say(one, "/restart")
        one.wait_gone("has ended")
        one.wait_for("Here.")
        say(one, "And now?")
        one.wait_for("Again.")
        assert lives(b.pid)


def test_one_that_was_interrupted_is_offered(program: Program) -> None:
    with behind(program, "say: Here.\n---\nsay: Again.\n") as b:
        b.begin("Are you there?")
        b.attach("Here.").press("ctrl+d")
        b.killed()
        one = b.attach("interrupted", "Go on with it in the background")
        one.press("escape")
        assert one.wait_exit() == 1
        one.wait_for("It was left as it is")
        two = b.attach("interrupted")
        two.press("enter")
        two.wait_for("Here.")
        say(two, "And now?")
        two.wait_for("Again.")


def test_without_a_terminal_there_is_no_screen(program: Program) -> None:
    ran = program.run("attach", "whatever")
    assert ran.returncode != 0
    assert "This needs a terminal" in ran.stderr
