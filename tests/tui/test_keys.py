"""Every key of the prompt and the screen, pressed on the real app."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from gatewright.agent.client.port import SessionClient
from gatewright.agent.commands.outcome import Outcome, Say
from gatewright.agent.commands.registry import Command, CommandContext, Looking
from gatewright.agent.record.events import ToolFinished, ToolProgressed, ToolStarted, TurnStarted
from gatewright.tui.app import AgentApp
from tests.fakes.fake_session import FakeSession
from tests.fakes.waiting import PATIENCE
from tests.tui.stage import HINT, driven, screen_text, stage


async def test_enter_sends_and_empties_the_prompt() -> None:
    async with stage() as s:
        await s.type("hello there")
        await s.press("enter")
        await s.until(lambda: s.session.sent == ["hello there"])
        assert s.app.repl.box.text == ""
        await s.see("▎ hello there")


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter"])
async def test_newline_keys_do_not_send(key: str) -> None:
    async with stage() as s:
        await s.press("a", key, "b")
        assert s.app.repl.box.text == "a\nb"
        assert s.session.sent == []


async def test_a_backslash_before_enter_makes_a_line() -> None:
    async with stage() as s:
        await s.press("a", "backslash", "enter", "b", "enter")
        await s.until(lambda: s.session.sent == ["a\nb"])


async def test_blank_input_is_not_sent() -> None:
    async with stage() as s:
        await s.press("space", "enter")
        assert s.session.sent == []


async def test_the_prompt_grows_to_ten_rows() -> None:
    async with stage() as s:
        await s.press(*["ctrl+j"] * 14)
        assert s.app.repl.box.size.height == 10


async def test_history_walks_back_and_returns_to_the_draft() -> None:
    async with stage() as s:
        for text in ("one", "two"):
            await s.type(text)
            await s.press("enter")
        await s.type("draft")
        box = s.app.repl.box
        await s.press("up")
        assert box.text == "two"
        await s.press("up")
        assert box.text == "one"
        await s.press("up", "down", "down")
        assert box.text == "draft"


async def test_up_walks_as_in_a_shell_whatever_was_sent() -> None:
    """Newest first, past commands and names of files, and Down back to nothing."""
    sent = ["oldest", "/keys", "look at @src", "two\nlines", "newest"]
    async with stage() as s:
        box = s.app.repl.box
        for text in sent:
            box.history_.add(text)
        seen: list[str] = []
        for _ in range(len(sent) + 2):
            await s.press("up")
            await s.settled()
            seen += [box.text] if box.text not in seen else []
            assert not s.app.repl.menu.open
        assert seen == sent[::-1]
        for text in [*sent[1:], "", ""]:
            await s.press("down")
            await s.settled()
            assert box.text == text
        await s.press("up", "up", "up", "up", "up")
        await s.until(lambda: box.text == "/keys")
        await s.type(" ")
        await s.press("backspace", "backspace")
        await s.until(lambda: s.app.repl.menu.open)


async def test_what_was_changed_of_an_earlier_message_is_the_draft_now() -> None:
    async with stage() as s:
        box = s.app.repl.box
        for text in ("one", "two"):
            box.history_.add(text)
        await s.press("up", "up")
        await s.type(" more")
        await s.press("up")
        assert box.text == "two"
        await s.press("down")
        assert box.text == "one more"


async def test_killed_text_comes_back() -> None:
    async with stage() as s:
        box = s.app.repl.box
        await s.type("alpha beta")
        await s.press("ctrl+w")
        assert box.text == "alpha "
        await s.press("ctrl+u")
        assert box.text == ""
        await s.press("ctrl+y")
        assert box.text == "alpha beta"
        await s.press("ctrl+a", "ctrl+k", "x", "ctrl+y", "alt+y")
        assert box.text.startswith("x")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_who_stops_the_turn_has_the_queue_returned(key: str) -> None:
    async with stage() as s:
        s.session.busy = True
        s.session.publish(TurnStarted())
        await s.see("esc to stop")
        await s.type("later")
        await s.press("enter")
        await s.see("↳ later")
        await s.press(key)
        await s.gone("↳ later")
        assert s.app.repl.box.text == "later"
        assert s.session.interrupts == 1


async def test_ctrl_c_stops_then_empties_then_leaves() -> None:
    async with stage() as s:
        s.session.busy = True
        await s.press("ctrl+c")
        assert s.session.interrupts == 1
        s.session.busy = False
        await s.type("draft")
        await s.press("ctrl+c")
        assert s.app.repl.box.text == ""
        await s.press("ctrl+c")
        await s.see("ctrl+c again to leave")
        assert not s.session.closed
        await s.press("ctrl+c")
        await s.until(lambda: s.session.closed)


async def test_a_word_beside_the_mode_has_its_moment_whatever_was_told_before() -> None:
    async with stage() as s:
        s.app.repl.tell("first")
        await s.wait(HINT / 2)
        s.app.repl.tell("second")
        await s.wait(HINT / 2 + 1)
        await s.see("second")
        await s.wait(HINT / 2)
        await s.gone("second")


async def test_a_hint_goes_once_it_was_followed_or_is_not_true_any_more() -> None:
    async with stage() as s:
        await s.type("something")
        await s.press("escape")
        await s.see("esc again empties the prompt")
        await s.type("x")
        await s.gone("esc again empties the prompt")
        await s.press("escape", "escape")
        await s.see("ctrl+_ brings it back")
        await s.press("ctrl+underscore")
        await s.see("somethingx")
        await s.gone("ctrl+_ brings it back")


async def test_ctrl_c_that_comes_too_late_is_a_first_one_again() -> None:
    async with stage() as s:
        for _ in range(2):
            await s.press("ctrl+c")
            await s.see("ctrl+c again to leave")
            assert not s.session.closed
            await s.wait(HINT + 1)
            await s.gone("ctrl+c again to leave")


async def test_ctrl_d_leaves_only_from_an_empty_prompt() -> None:
    async with stage() as s:
        await s.press("a", "b", "left", "ctrl+d")
        assert s.app.repl.box.text == "a"
        await s.press("backspace", "ctrl+d")
        await s.until(lambda: s.session.closed)


async def test_shift_tab_cycles_the_mode() -> None:
    async with stage() as s:
        await s.press("shift+tab")
        await s.see("acceptEdits")
        await s.press("shift+tab")
        await s.see("plan")


async def test_the_menu_completes_and_runs_commands() -> None:
    async with stage() as s:
        await s.press("slash", "m", "o")
        await s.see("/mode", "/model")
        await s.press("escape")
        await s.gone("/model")
        await s.press("d", "tab")
        assert s.app.repl.box.text == "/mode "
        await s.type("plan")
        await s.press("enter")
        await s.see("Mode: plan")


async def test_a_menu_that_opens_looks_once_for_commands_that_are_new() -> None:
    async with stage() as s:
        looks: list[int] = []

        async def look() -> None:
            looks.append(1)
            s.app.talk.commands().changed()

        def now() -> Sequence[Command]:
            return [Command(name="newest", summary="Just there", run=done)] if looks else []

        async def done(context: CommandContext) -> Outcome:
            return Say.text(f"done {context.name}")

        s.app.talk.commands().add(Looking(now, look))
        await s.press("slash", "n", "e", "w", "e")
        await s.see("/newest", "Just there")
        assert looks == [1]
        await s.press("escape", "ctrl+u")
        await s.press("slash", "n")
        await s.until(lambda: looks == [1, 1])


@pytest.mark.parametrize("closed", [False, True])
async def test_what_is_found_late_is_offered_unless_the_menu_was_closed(*, closed: bool) -> None:
    async with stage() as s:
        found = asyncio.Event()

        async def look() -> None:
            await found.wait()
            s.app.talk.commands().changed()

        def now() -> Sequence[Command]:
            return (
                [Command(name="newest", summary="Just there", run=done)] if found.is_set() else []
            )

        async def done(context: CommandContext) -> Outcome:
            return Say.text(f"done {context.name}")

        s.app.talk.commands().add(Looking(now, look))
        await s.press("slash")
        await s.see("/help")
        if closed:
            await s.press("escape")
        else:
            await s.press("n", "e", "w", "e")  # fits nothing yet
        found.set()
        if closed:
            await s.until(lambda: s.app.talk.commands().find("newest") is not None)
            assert not s.app.repl.box.menu_open
        else:
            await s.see("/newest", "Just there")
            assert s.app.repl.box.menu_open


async def test_the_menu_runs_what_is_under_the_cursor() -> None:
    async with stage() as s:
        await s.press("slash", "h", "e", "enter")
        await s.see("What you can type here")
        assert s.app.repl.box.text == ""


async def test_an_unknown_command_names_the_nearest() -> None:
    async with stage() as s:
        await s.type("/hepl")
        await s.press("enter")
        await s.see("Did you mean /help?")


async def test_exit_leaves() -> None:
    async with stage() as s:
        await s.type("/exit")
        await s.press("enter")
        await s.until(lambda: s.session.closed)


async def test_what_is_typed_before_the_session_is_kept() -> None:
    session, gate = FakeSession(), asyncio.Event()

    async def open_session() -> SessionClient:
        await gate.wait()
        return session.facade()

    app = AgentApp(open_session)
    async with driven(app) as pilot:
        await pilot.press("h", "i", "enter", "n", "e", "x", "t")
        assert session.sent == []
        gate.set()
        async with asyncio.timeout(PATIENCE):
            while not session.sent:
                await pilot.pause(0.01)
        assert session.sent == ["hi"]
        assert app.repl.box.text == "next"


async def test_a_command_typed_before_the_session_is_offered_once_it_is_there() -> None:
    session, gate = FakeSession(), asyncio.Event()

    async def open_session() -> SessionClient:
        await gate.wait()
        return session.facade()

    app = AgentApp(open_session)
    async with driven(app) as pilot:
        await pilot.press("slash", "h", "e", "l")
        assert "/help" not in screen_text(app), "nobody knows one yet"
        gate.set()
        async with asyncio.timeout(PATIENCE):
            while not app.repl.box.menu_open:
                await pilot.pause(0.01)
        assert "/help" in screen_text(app)


async def test_escape_twice_goes_back() -> None:
    async with stage() as s:
        await s.press("escape")
        s.clock.now += 0.3
        await s.press("escape")
        await s.see("/rewind")


@pytest.mark.parametrize("between", [("a", "backspace"), ("ctrl+end",), ()])
async def test_escape_typing_escape_is_no_double_escape(between: tuple[str, ...]) -> None:
    async with stage() as s:
        await s.press("escape")
        s.clock.now += 0.1 if between else 0.6
        await s.press(*between)
        await s.press("escape")
        await s.pilot.pause(0.1)
        assert "rewind" not in s.text()


RUNNING = (
    TurnStarted(),
    ToolStarted(call_id="c", name="Bash", input={}, verb="Run", target="make all"),
)


async def test_ctrl_b_lets_a_running_command_go_on_in_the_background() -> None:
    async with stage() as s:
        await s.type("draft")
        s.session.publish(*RUNNING)
        s.session.movable = 1
        await s.settled()
        assert "ctrl+b" not in s.text(), "not before it takes long"
        s.session.publish(
            ToolProgressed(call_id="c", tail="", size=0, seconds=2.0, movable=True),
        )
        await s.see("make all  ctrl+b to background")
        await s.press("ctrl+b")
        assert s.session.movable == 0
        await s.see("in the background")
        assert s.app.repl.box.cursor_location == (0, 5), "the draft is left alone"
        s.session.publish(ToolFinished(call_id="c", ok=True, content=(), summary="background x"))
        await s.gone("ctrl+b to background")


async def test_ctrl_b_moves_left_when_nothing_can_be_sent_away() -> None:
    async with stage() as s:
        await s.type("draft")
        await s.press("ctrl+b", "X")
        assert s.app.repl.box.text == "drafXt"
        s.session.publish(*RUNNING)
        await s.settled()
        await s.press("ctrl+b")
        await s.press("Y")
        assert s.app.repl.box.text == "drafYXt"


async def test_a_narrow_screen_has_no_room_for_the_hint() -> None:
    async with stage(size=(50, 20)) as s:
        s.session.publish(*RUNNING)
        s.session.publish(
            ToolProgressed(call_id="c", tail="cc -c a.c", size=9, seconds=4.0, movable=True)
        )
        shown = await s.see("make all  4 s", "cc -c a.c")
        assert "ctrl+b" not in shown


async def test_up_takes_back_what_waits_instead_of_copying_it() -> None:
    session = FakeSession()
    session.busy = True
    async with stage(session) as s:
        session.publish(TurnStarted())
        await s.type("one more thing")
        await s.press("enter")
        await s.until(lambda: session.queued == ("one more thing",))
        await s.press("up")
        await s.until(lambda: session.queued == ())
        assert s.app.repl.box.text == "one more thing"
        await s.type(", please")
        await s.press("enter")
        await s.until(lambda: session.queued == ("one more thing, please",))


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_backslash_before_enter_becomes_the_new_line(*, at_once: bool) -> None:
    """At once is what terminals are taught to send for Shift+Enter."""
    async with stage() as s:
        await s.type("one")
        await (s.burst("\\\r") if at_once else s.press("backslash", "enter"))
        await s.until(lambda: s.app.repl.box.text == "one\n")
        await s.type("two\\")
        await s.press("left", "enter")
        await s.until(lambda: s.session.sent == ["one\ntwo\\"])


async def test_an_enter_meant_for_a_menu_that_has_closed_sends() -> None:
    """In one burst with the text, it comes before the menu is told of the last letters."""
    async with stage() as s:
        await s.type("/mode plan")
        s.app.repl.box.menu_open = True
        await s.press("enter")
        await s.see("Mode: plan")
        assert s.app.repl.box.text == ""


async def test_a_command_that_comes_in_one_burst_runs() -> None:
    async with stage() as s:
        await s.burst("/mode plan\r")
        await s.see("Mode: plan")
        assert s.app.repl.box.text == ""
