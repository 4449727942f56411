"""An answer is taken only where it was meant: every way in which a key could be one by accident."""

from __future__ import annotations

import pytest
from textual import events
from textual.geometry import Size

from gatewright.agent.record.events import Answered, Asked
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tui.ask.guard import GUARD, HOLD, QUIET, REPEAT, Guard
from gatewright.tui.ask.messages import AnswerGiven, WantsText
from gatewright.tui.prompt import box
from gatewright.tui.state import Pending
from tests.fakes.waiting import PATIENCE
from tests.tui.asked import ask, permission
from tests.tui.stage import Stage, stage

NAMES = {"/": "slash", "!": "exclamation_mark", "#": "number_sign"}


async def unanswered(s: Stage) -> None:
    """Long after whatever was held: no answer, and nothing was sent."""
    s.clock.now += HOLD
    await s.wait(2 * HOLD)
    assert s.session.answers == []
    assert s.session.sent == []


async def slowly(s: Stage, *keys: str) -> None:
    """So long between the keys that each might be an answer."""
    for key in keys:
        await s.press(key)
        await s.wait(2 * HOLD)
        s.clock.now += 2 * QUIET


async def test_letters_never_answer_while_there_is_a_draft() -> None:
    async with stage() as s:
        await s.type("wh")
        await ask(s, permission())
        screen = s.text()
        assert "y  Yes, once" not in screen, "no letter is shown that would not answer"
        await slowly(s, "y", "space", "n", "Y", "t")
        await unanswered(s)
        assert s.app.repl.box.text == "why nYt"
        assert not s.app.repl.query_one("#reply-line").display


async def test_words_typed_below_a_question_are_what_the_agent_is_told_instead() -> None:
    async with stage(size=(80, 24)) as s:
        await ask(s, permission())
        await s.press(*"make")
        await s.see("▸    Tell the agent what you typed")
        await s.press("enter")
        await unanswered(s)  # in one breath with the words it is part of a paste
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(text="make"))])
        assert s.app.repl.box.text == ""


@pytest.mark.parametrize("words", ["/mode", "!ls", "#note"])
async def test_a_command_typed_below_a_question_is_no_answer(words: str) -> None:
    async with stage(size=(80, 24)) as s:
        await ask(s, permission())
        await s.press(*(NAMES.get(key, key) for key in words))
        s.clock.now += 2 * QUIET
        await s.press("enter")
        await s.see("answer first, then enter runs it")
        await unanswered(s)
        assert s.app.repl.box.text == words


@pytest.mark.parametrize("words", ["/mo", "@no"])
async def test_no_list_opens_below_a_question(words: str) -> None:
    """Its keys would be the question's: Esc refuses, arrows choose."""
    async with stage(size=(80, 24)) as s:
        await ask(s, permission())
        await s.type(words)
        await s.until(lambda: s.app.repl.box.text == words)
        assert not s.app.repl.menu.open
        s.clock.now += 2 * QUIET
        await s.press("escape", "escape")  # the words are taken back, and nothing is refused
        await s.until(lambda: s.app.repl.box.text == "")
        await unanswered(s)
        s.clock.now += 2 * QUIET
        await s.press("escape")
        await s.until(lambda: s.session.answers == [(1, Answer(("no",)))])


async def test_escape_takes_back_what_was_typed_below_a_question_and_says_so() -> None:
    async with stage(size=(80, 24)) as s:
        await ask(s, permission())
        await s.see("n  No · esc")
        await s.type("why")
        await s.see("Tell the agent what you typed · esc takes it back")
        await s.press("escape")
        await s.see("n  No · esc")
        assert s.app.repl.box.text == ""
        await unanswered(s)


async def test_letters_never_answer_behind_a_blank() -> None:
    async with stage() as s:
        await ask(s, permission())
        await slowly(s, "space", "y")
        await unanswered(s)
        assert s.app.repl.box.text == " y"


async def test_words_begun_before_the_question_was_read_are_not_told() -> None:
    async with stage() as s:
        await ask(s, permission(), guarded=True)
        await s.press(*"docs")
        s.clock.now += 2 * QUIET
        await s.press("enter")
        await unanswered(s)
        assert s.app.repl.box.text == "docs"


async def test_the_draft_is_carried_into_the_line_and_back() -> None:
    async with stage() as s:
        await s.type("my words")
        await ask(s, permission())
        await s.press("down", "down", "down", "enter")
        await s.until(lambda: s.app.repl.reply.text == "my words")
        assert s.app.repl.box.text == ""
        await s.press("escape")
        await s.until(lambda: s.app.repl.box.text == "my words")
        await s.see("▸    Tell the agent what you typed")
        s.clock.now += 2 * QUIET
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(text="my words"))])


async def test_a_letter_that_would_answer_an_empty_prompt_says_how_to_answer() -> None:
    async with stage() as s:
        await s.type("wh")
        await ask(s, permission())
        await s.press("y")
        await s.see("choose with the arrows, then enter")


@pytest.mark.parametrize("key", ["ctrl+u", "ctrl+w", "backspace"])
async def test_letters_answer_again_once_the_draft_is_gone(key: str) -> None:
    async with stage() as s:
        await s.type("w")
        await ask(s, permission())
        await s.press(key)
        await s.see("y  Yes, once")
        assert s.app.repl.box.text == ""
        s.clock.now += 2 * QUIET
        await s.press("y")
        await s.until(lambda: s.session.answers == [(1, Answer(("once",)))])


async def test_every_printable_key_reaches_the_draft() -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("full_stop", "slash", "at", "number_sign", "f", "ä")
        await s.until(lambda: s.app.repl.box.text == "./@#fä")


@pytest.mark.parametrize("pasted", ["y", "\n", "y\n", "n\r\ny\r\n", "1"])
async def test_a_paste_is_no_answer(pasted: str) -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.paste(pasted)
        await unanswered(s)
        await s.see("Yes, once")


async def test_the_rest_of_a_paste_that_was_split_is_no_answer() -> None:
    async with stage() as s:
        await ask(s, permission())
        s.app.post_message(events.Paste("say "))
        await s.burst("y\r")
        await unanswered(s)
        assert s.app.repl.box.text == "say y"


@pytest.mark.parametrize("text", ["\rls", "y\r", "y\rn\r", "\r\r\ry"])
async def test_a_paste_without_marks_is_no_answer(text: str) -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.burst(text)
        await unanswered(s)


async def test_enter_held_down_answers_one_question() -> None:
    """A terminal repeats a key only after half a second: longer than the pause."""
    async with stage() as s:
        await ask(s, permission("one"), permission("two"))
        await s.press("enter")
        await s.see("$ two")
        await s.settled()
        s.clock.now += REPEAT - 0.1
        for _ in range(20):
            await s.press("enter")
            s.clock.now += 0.03
        assert [number for number, _ in s.session.answers] == [1]
        s.clock.now += GUARD + 0.01
        await s.press("enter")
        await s.until(lambda: [number for number, _ in s.session.answers] == [1, 2])


async def test_enter_held_down_sends_no_draft_once_the_question_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(box, "STARTLED", PATIENCE)  # a busy machine presses it late
    async with stage() as s:
        await s.type("half a sentence")
        await ask(s, permission())
        await s.press("down", "up", "enter")
        await s.gone("Yes, once")
        await s.press("enter", "enter", "enter")
        await s.pilot.pause(0.1)
        assert s.session.sent == []
        assert s.app.repl.box.text == "half a sentence"
        await s.press("!", "enter")
        await s.until(lambda: s.session.sent == ["half a sentence!"])


async def test_enter_for_a_question_that_is_withdrawn_sends_no_draft(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(box, "STARTLED", PATIENCE)  # a busy machine presses it late
    async with stage() as s:
        await s.type("half a sentence")
        await ask(s, permission())
        s.session.publish(Answered(id=1, answer=Answer(cancelled=True)))
        await s.gone("Yes, once")
        await s.press("enter")
        await unanswered(s)
        assert s.app.repl.box.text == "half a sentence"


@pytest.mark.parametrize("key", ["y", "enter"])
async def test_a_key_for_a_question_that_is_withdrawn_answers_not_the_next(key: str) -> None:
    async with stage() as s:
        await ask(s, permission("one"))
        await s.press(key)
        s.session.publish(Answered(id=1, answer=Answer(cancelled=True)))
        s.session.publish(Asked(id=2, ask=permission("two")))
        await s.see("$ two")
        await s.press(key)
        await s.wait(2 * HOLD)
        assert all(number == 1 for number, _ in s.session.answers)


async def test_an_answer_to_another_question_with_the_same_number_is_none() -> None:
    """Numbers begin anew in each session; an answer that was on its way is for the one left."""
    async with stage() as s:
        await ask(s, permission("rm -rf build"))
        left = Pending(1, permission("ls"), "main")
        s.app.repl.panel.post_message(AnswerGiven(left, Answer(("once",))))
        s.app.repl.panel.post_message(WantsText(left))
        await unanswered(s)
        assert not s.app.repl.query_one("#reply-line").display


async def test_words_for_a_question_that_is_gone_become_the_draft() -> None:
    async with stage() as s:
        await ask(s, permission("one"))
        await s.press("t")
        await s.until(lambda: s.app.focused is s.app.repl.reply)
        await s.type("use pnpm")
        s.session.publish(Answered(id=1, answer=Answer(cancelled=True)))
        s.session.publish(Asked(id=2, ask=permission("two")))
        await s.see("$ two")
        assert "Instead" not in s.text()
        s.clock.now += 2 * QUIET
        await slowly(s, "y")
        await unanswered(s)
        assert s.app.repl.box.text == "use pnpmy"


async def test_enter_behind_words_answers_the_question_they_were_for() -> None:
    async with stage() as s:
        await ask(s, permission("one"))
        await s.press("t")
        await s.until(lambda: s.app.focused is s.app.repl.reply)
        await s.type("use pnpm")
        reply = s.app.repl.reply
        s.session.publish(Answered(id=1, answer=Answer(cancelled=True)))
        s.session.publish(Asked(id=2, ask=permission("two")))
        reply.post_message(reply.Submitted(reply, "use pnpm"))
        await s.see("$ two")
        await unanswered(s)


async def test_a_second_escape_that_leaves_the_words_is_no_refusal() -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("t")
        await s.until(lambda: s.app.focused is s.app.repl.reply)
        await s.press("escape", "escape")
        await unanswered(s)
        await s.see("Yes, once")


async def test_long_words_are_answered_whole() -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("t")
        await s.until(lambda: s.app.focused is s.app.repl.reply)
        words = "\n".join(f"step {n}" for n in range(40))
        await s.paste(words)
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(text=words))])


async def test_a_key_is_no_answer_before_the_question_was_painted() -> None:
    guard = Guard()
    guard.start(10.0)
    assert guard.blocks(20.0), "the screen was busy all the time"
    guard.seen(30.0)
    assert guard.blocks(30.0 + GUARD / 2)
    assert not guard.blocks(30.0 + 2 * GUARD)


async def test_a_key_pressed_before_the_question_is_no_answer_when_it_is_read_late() -> None:
    async with stage() as s:
        await ask(s, permission(), guarded=True)
        s.clock.now += GUARD + 0.05
        key = events.Key("enter", "\r")
        key.time -= 1.0
        s.app.repl.panel.post_message(key)
        await unanswered(s)


async def test_coming_back_to_the_terminal_begins_the_pause_again() -> None:
    async with stage() as s:
        await ask(s, permission())
        s.app.post_message(events.AppBlur())
        s.app.post_message(events.AppFocus())
        await s.pilot.pause()
        await s.press("enter", "escape", "y")
        await unanswered(s)


async def test_what_covered_the_question_leaves_its_keys_no_answer() -> None:
    """`q` closes the reader, and a second one would leave where trust is asked."""
    async with stage() as s:
        await s.press("ctrl+t")
        await s.see("v opens an editor")
        s.session.publish(Asked(id=1, ask=permission()))
        await s.settled()
        s.clock.now += 2 * QUIET
        await s.press("q")
        await s.see("Yes, once")
        await s.settled()
        await s.press("enter", "escape", "y")
        await unanswered(s)


async def test_keys_for_a_list_that_a_question_closes_are_no_answer() -> None:
    async with stage() as s:
        await s.type("one")
        await s.press("enter", "ctrl+r")
        await s.see("Sent before")
        s.session.sent.clear()
        await ask(s, permission(), guarded=True)
        s.clock.now += GUARD + 0.05
        await s.press("enter")
        await unanswered(s)


@pytest.mark.parametrize("size", [(40, 10), (120, 40)])
async def test_an_answer_means_the_same_after_a_resize(size: tuple[int, int]) -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("n")
        s.app.post_message(events.Resize(Size(*size), Size(*size)))
        await s.until(lambda: s.session.answers == [(1, Answer(("no",)))])


async def test_the_choice_stays_where_it_is_when_the_screen_changes() -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("down", "down")
        await s.see("▸ n  No")
        s.app.post_message(events.Resize(Size(40, 10), Size(40, 10)))
        await s.see("▸ n  No")
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("no",)))])


async def test_keys_of_vims_normal_mode_are_no_answers_to_a_draft() -> None:
    async with stage() as s:
        s.app.repl.box.use_vim(on=True)
        await s.type("one two")
        await s.press("escape")
        await s.see("NORMAL")
        await ask(s, permission())
        await slowly(s, "y", "y", "n")
        await unanswered(s)
        assert s.app.repl.box.text == "one two"


async def test_a_number_marks_one_of_several_and_gives_no_answer_yet() -> None:
    options = (Option("a", "Apples", "1"), Option("b", "Pears", "2"), Option("c", "Figs", "3"))
    question = Ask(kind="question", title="Which?", body=(), options=options, multiple=True)
    async with stage() as s:
        s.session.publish(Asked(id=1, ask=question))
        await s.see("Apples")
        await s.settled()
        s.clock.now += 2 * QUIET
        await slowly(s, "1", "3")
        await unanswered(s)
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("a", "c")))])


async def test_a_letter_that_came_too_early_answers_when_it_is_given_once_more() -> None:
    async with stage(size=(80, 24)) as s:
        await ask(s, permission(), guarded=True)
        await s.press("y")
        await s.see("once more gives it")
        await s.until(lambda: s.app.repl.box.text == "y")
        assert "y  Yes, once" in s.text(), "what answers is shown"
        assert "n  No" not in s.text()
        await s.press("y")  # too soon: somebody holds it down
        await unanswered(s)
        assert s.app.repl.box.text == "yy"
        s.clock.now += 2 * REPEAT
        await s.press("y")
        await s.wait(2 * QUIET)
        await s.until(lambda: s.session.answers == [(1, Answer(choices=("once",)))])
        await s.until(lambda: s.app.repl.box.text == "")


@pytest.mark.parametrize("rest", ["n", "es", "Y"])
async def test_another_letter_behind_an_early_one_is_a_word(rest: str) -> None:
    async with stage(size=(80, 24)) as s:
        await ask(s, permission(), guarded=True)
        await s.press("y")
        s.clock.now += 2 * REPEAT
        await slowly(s, *rest)
        await unanswered(s)
        assert s.app.repl.box.text == f"y{rest}"


async def test_an_early_letter_given_again_within_a_word_is_no_answer() -> None:
    async with stage(size=(80, 24)) as s:
        await ask(s, permission(), guarded=True)
        await s.press("n")
        s.clock.now += 2 * REPEAT
        await s.press("n", "o")
        await unanswered(s)
        assert s.app.repl.box.text == "nno"


async def test_words_typed_anew_below_a_question_are_still_meant_for_it() -> None:
    async with stage(size=(80, 24)) as s:
        await ask(s, permission())
        await s.type("why")
        await s.until(lambda: s.app.repl.box.text == "why")
        await s.press("ctrl+u", *"usepip")
        await s.see("Tell the agent what you typed")
        s.clock.now += QUIET
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(text="usepip"))])


async def test_a_word_that_came_at_once_is_no_answer_that_came_too_early() -> None:
    async with stage(size=(80, 24)) as s:
        await ask(s, permission(), guarded=True)
        for letter in "but":  # as they come in one write, before the prompt has any
            s.app.post_message(events.Key(letter, letter))
        await s.until(lambda: s.app.repl.box.text == "but")
        assert "once more" not in s.text()
