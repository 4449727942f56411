"""The table of background sessions on the screen: looked into, answered, attached, stopped."""

from __future__ import annotations

import pytest

from tests.background.attached import behind
from tests.e2e.program import Program
from tests.e2e.stage import say
from tests.fakes.waiting import until

pytestmark = pytest.mark.e2e


def test_peek_reply_attach_and_stop(program: Program) -> None:
    with behind(program, "say: Here.\n---\nsay: A reply came.\n---\nsay: And more.\n") as b:
        b.begin("Are you there?")
        one = b.table()
        one.wait_for("Are you there?", "a attaches", "r replies", "X stops")
        one.look()
        one.press("enter")
        one.wait_for("Here.")
        one.press("escape")
        one.wait_gone("Here.")  # what comes right behind an Esc is one key with it
        one.wait_for("a attaches")
        one.look()
        one.send("r")
        one.wait_for(f"/reply {b.id}")
        one.send("Do more.")
        one.wait_for("Do more.")
        one.press("enter")
        one.wait_for("Sent to")
        say(one, "/sessions")
        one.wait_for("a attaches")
        one.look()
        one.send("a")
        one.wait_for("Do more.", "A reply came.")
        say(one, "More.")
        one.wait_for("And more.")
        say(one, "/sessions")
        one.wait_for("X stops")
        one.look()
        one.send("XX")
        until(lambda: b.record.get("state") == "stopped", what="its end")


def test_from_a_screen_with_a_session_of_its_own(program: Program) -> None:
    with behind(program, "say: From behind.\n---\nsay: Here.\n") as b:
        one = b.screen()
        say(one, "/sessions")
        one.wait_for("Nothing runs in the background")
        one.press("escape")
        one.wait_gone("Nothing runs in the background")
        b.begin("Are you there?")
        say(one, "/sessions")
        one.wait_for("a attaches", "Are you there?")
        one.look()
        one.send("a")
        one.wait_for("From behind.")
        one.press("ctrl+d")
        assert one.wait_exit() == 0
        one.wait_for(f"agent attach {b.id}")
