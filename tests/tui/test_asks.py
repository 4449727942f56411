"""Questions to the person: what is shown, which keys answer, what they leave alone."""

from __future__ import annotations

import msgspec
import pytest
from textual import events

from gatewright.agent.record.events import Answered, Asked
from gatewright.tools.blocks import Diff, Hunk, Text
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tui.ask.guard import GUARD, HOLD, QUIET
from tests.fakes.examples import some
from tests.tui.asked import OPTIONS, ask, permission, write
from tests.tui.scenes import prose
from tests.tui.stage import Stage, stage


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("y", Answer(("once",))),
        ("Y", Answer(("always",))),
        ("n", Answer(("no",))),
        ("escape", Answer(("no",))),
        ("enter", Answer(("once",))),
    ],
)
async def test_keys_answer(key: str, answer: Answer) -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press(key)
        await s.until(lambda: s.session.answers == [(1, answer)])
        await s.gone("Yes, once")


async def test_everything_at_stake_is_shown() -> None:
    async with stage() as s:
        await ask(s, permission("npm test\x1b[2K -- \u202ereversed"))
        screen = await s.see("$ npm test<U+001B>[2K -- <U+202E>reversed", "No rule covers")
        assert "Bash(npm test:*)" in screen


async def test_arrows_move_the_options_however_long_the_body_is() -> None:
    async with stage() as s:
        await ask(s, permission(LONG))
        await s.press("down", "down", "enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("no",)))])


async def test_arrows_stop_at_the_last_way_to_answer() -> None:
    """Whoever wants to read on with them never comes round to the yes."""
    async with stage() as s:
        await ask(s, permission(LONG))
        await s.press(*["down"] * 20)
        assert s.app.repl.panel.at == 3
        await s.press(*["up"] * 20)
        assert s.app.repl.panel.at == 0
        await s.press(*["tab"] * 4)
        assert s.app.repl.panel.at == 0


async def test_the_wheel_reads_and_a_click_answers_nothing() -> None:
    async with stage() as s:
        await ask(s, permission(LONG))
        panel = s.app.repl.panel.region
        await s.mouse(events.MouseScrollDown, panel.x + 5, panel.y + 2)
        await s.until(lambda: "$ step0;" not in s.text() and "step3;" in s.text())
        await s.mouse(events.MouseScrollUp, panel.x + 5, panel.y + 2)
        await s.see("$ step0;")
        for y in range(panel.y, panel.bottom):
            await s.mouse(events.MouseDown, panel.x + 5, y)
            await s.mouse(events.MouseUp, panel.x + 5, y)
            await s.mouse(events.Click, panel.x + 5, y)
        await s.wait(2 * HOLD)
        assert s.session.answers == []
        assert s.app.repl.panel.at == 0


async def test_where_all_is_seen_the_keys_of_scrolling_are_the_conversations() -> None:
    async with stage() as s:
        prose(s.session)
        await ask(s, permission())
        view = s.app.repl.transcript
        for up, down in (("pageup", "pagedown"), ("shift+up", "shift+down")):
            await s.press(up)
            assert not view.following
            await s.press(down)
            assert view.following
        await s.press("ctrl+home")
        await s.see("the lease test is flaky", "Yes, once")


async def test_keys_just_after_the_appearance_are_no_answers() -> None:
    async with stage() as s:
        await ask(s, permission(), guarded=True)
        await s.press("y", "enter", "escape", "n")
        await s.wait(2 * HOLD)
        assert s.session.answers == []
        assert s.app.repl.box.text == "yn"
        await s.press("backspace", "backspace")
        await s.until(lambda: s.app.repl.box.text == "")
        s.clock.now += 2 * QUIET
        await s.press("y")
        await s.until(lambda: len(s.session.answers) == 1)


async def test_the_draft_is_kept() -> None:
    async with stage() as s:
        await s.type("my draft")
        await ask(s, permission())
        await s.press("x")
        s.clock.now += 2 * QUIET
        await s.press("down", "up", "enter")
        await s.gone("Yes, once")
        await s.press("!")
        assert s.app.repl.box.text == "my draftx!"


async def test_arrows_choose() -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("down", "down", "enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("no",)))])


async def test_shift_tab_changes_the_mode_while_asked() -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("shift+tab")
        await s.see("acceptEdits", "Yes, once")
        assert s.session.answers == []


async def test_words_are_an_answer_and_escape_returns_to_the_options() -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("t")
        await s.until(lambda: s.app.focused is s.app.repl.reply)
        await s.see("Instead: say it, or esc goes back")
        await s.type("use pn")
        await s.see("Instead: use pn")
        await s.press("escape")
        await s.gone("Instead")
        s.clock.now += 2 * QUIET
        await s.press("t")
        await s.see("Instead: use pn")
        await s.until(lambda: s.app.focused is s.app.repl.reply)
        await s.type("pm")
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(text="use pnpm"))])
        assert s.app.focused is s.app.repl.box


async def test_questions_come_one_after_the_other_with_a_count() -> None:
    async with stage() as s:
        await ask(s, permission("one"), permission("two"))
        await s.see("1 of 2", "$ one")
        await s.press("y")
        await s.see("$ two")
        assert "of 2" not in s.text()
        await s.press("y")
        await s.wait(2 * HOLD)
        assert len(s.session.answers) == 1, "the next question needs its own moment"


async def test_who_asks_is_named() -> None:
    async with stage() as s:
        s.session.publish(Asked(id=1, ask=permission()), agent="main/a3")
        await s.see("a3 asks")


async def test_several_answers_can_be_marked() -> None:
    question = Ask(
        kind="question",
        title="Which ones?",
        body=(),
        options=(Option("a", "Apples", "1"), Option("b", "Pears", "2"), Option("c", "Figs", "3")),
        multiple=True,
    )
    async with stage() as s:
        s.session.publish(Asked(id=1, ask=question))
        await s.see("Apples")
        await s.settled()
        s.clock.now += 2 * GUARD
        await s.press("enter")
        await s.see("nothing is marked")
        assert not s.session.answers
        await s.press("space", "down", "down", "space", "enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("a", "c")))])


async def test_numbers_mark_at_once_however_fast_they_follow() -> None:
    options = tuple(Option(name, name, str(n)) for n, name in enumerate("abc", 1))
    question = Ask(
        kind="question", title="Which?", body=(), options=options, multiple=True, free_text=True
    )
    async with stage() as s:
        s.session.publish(Asked(id=1, ask=question))
        await s.see("Which?", "Space or its number marks one")
        await s.settled()
        s.clock.now += 2 * GUARD
        await s.press("enter")
        await s.see("nothing is marked: space or its number marks one")
        assert s.session.answers == []
        s.clock.now += 2 * GUARD
        await s.press("1", "2", "3", "2")
        await s.press("2", "2")
        await s.see("[x] a", "[ ] b", "[x] c")
        assert s.app.repl.box.text == ""
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("a", "c")))])


@pytest.mark.parametrize("begin", ["", "t"])
async def test_words_take_nothing_of_what_is_marked_away(begin: str) -> None:
    options = tuple(Option(name, name, str(n)) for n, name in enumerate("abc", 1))
    question = Ask(
        kind="question", title="Which?", body=(), options=options, multiple=True, free_text=True
    )
    async with stage() as s:
        s.session.publish(Asked(id=1, ask=question))
        await s.see("Which?")
        await s.settled()
        s.clock.now += 2 * GUARD
        await s.press("1", "3")
        await s.see("[x] a", "[ ] b", "[x] c")
        if begin:
            await s.press("t")
            await s.wait(2 * GUARD)
            await s.until(lambda: s.app.repl.reply.has_focus)
        await s.type("and more")
        s.clock.now += 2 * GUARD
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("a", "c"), "and more"))])


async def test_escape_on_a_question_without_a_no_cancels_it() -> None:
    question = Ask(kind="question", title="Which?", body=(), options=(Option("a", "This", "1"),))
    async with stage() as s:
        s.session.publish(Asked(id=1, ask=question))
        await s.see("This")
        await s.settled()
        s.clock.now += 2 * GUARD
        await s.press("escape")
        await s.until(lambda: s.session.answers == [(1, Answer(cancelled=True))])


async def test_a_long_body_scrolls() -> None:
    async with stage() as s:
        await ask(s, permission("\n".join(f"step{n};" for n in range(60))))
        assert "step59" not in s.text()
        for _ in range(20):
            await s.press("pagedown")
        await s.see("step59")


async def keys(s: Stage, text: str, gap: float) -> None:
    """Type like a person, with so many seconds between the keys."""
    for character in text:
        await s.press({" ": "space", "\r": "enter"}.get(character, character))
        s.clock.now += gap
        await s.wait(gap)


@pytest.mark.parametrize("gap", some([0.12, 0.05, 0.3], 3))
@pytest.mark.parametrize("text", ["fix the typo", "maybe later", "1y2y3y", "go\r"])
async def test_typing_across_the_arrival_of_a_question_is_no_answer(text: str, gap: float) -> None:
    async with stage() as s:
        await s.type(text[:2])
        await ask(s, permission(), guarded=True)
        await keys(s, text[2:], gap)
        await s.wait(2 * HOLD)
        assert s.session.answers == []
        assert s.session.sent == []
        assert s.app.repl.box.text == text.rstrip()


@pytest.mark.parametrize("gap", [0.05, 0.12])
@pytest.mark.parametrize("text", ["yes, do it", "no", "typo"])
async def test_a_word_begun_after_the_pause_is_no_answer_either(text: str, gap: float) -> None:
    async with stage() as s:
        await ask(s, permission())
        await keys(s, text, gap)
        await s.wait(2 * HOLD)
        assert s.session.answers == []
        assert s.app.repl.box.text == text.rstrip()


async def test_a_pause_within_a_sentence_does_not_make_its_next_letter_an_answer() -> None:
    async with stage() as s:
        await ask(s, permission())
        await keys(s, "wh", 0.05)
        s.clock.now += 2 * QUIET
        await keys(s, "y not", 0.3)
        await s.wait(2 * HOLD)
        assert s.session.answers == []
        assert s.app.repl.box.text == "why not"


async def test_enter_sends_no_draft_as_an_answer_until_something_was_chosen() -> None:
    async with stage() as s:
        await s.type("half a sentence")
        await ask(s, permission())
        await s.press("enter")
        await s.see("choose with the arrows")
        assert s.session.answers == []
        await s.press("down", "up", "enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("once",)))])
        assert s.app.repl.box.text == "half a sentence"


async def test_arrows_and_enter_meant_for_the_draft_choose_nothing() -> None:
    async with stage() as s:
        await ask(s, permission(), guarded=True)
        await s.press("up", "enter")
        assert s.session.answers == []
        assert s.app.repl.panel.at == 0


async def test_enter_behind_an_arrow_that_came_too_early_is_no_yes() -> None:
    async with stage() as s:
        await ask(s, permission(), guarded=True)
        await s.press("down", "down")
        s.clock.now += 2 * QUIET
        await s.press("enter")
        await s.see("choose with the arrows, then enter")
        await s.wait(2 * HOLD)
        assert s.session.answers == []
        await s.press("down", "down", "enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("no",)))])


TRUST = Ask(
    kind="trust",
    title="Do you trust /home/sam/harbour?",
    body=(),
    options=(
        Option("trust", "Trust it", "y"),
        Option("without", "Go on without", "n"),
        Option("leave", "Leave", "q"),
    ),
)


@pytest.mark.parametrize(
    ("pressed", "choice"), [(("enter",), "without"), (("up", "enter"), "trust"), (("y",), "trust")]
)
async def test_trust_is_not_what_enter_means(pressed: tuple[str, ...], choice: str) -> None:
    async with stage() as s:
        s.session.publish(Asked(id=1, ask=TRUST))
        await s.see("Go on without")
        await s.settled()
        s.clock.now += 2 * QUIET
        await s.press(*pressed)
        await s.until(lambda: s.session.answers == [(1, Answer((choice,)))])


@pytest.mark.parametrize("size", [(100, 30), (40, 12)])
async def test_a_dangerous_call_says_why_first_and_enter_means_no(size: tuple[int, int]) -> None:
    text = "It deletes your home directory."
    danger = msgspec.structs.replace(permission("rm -rf ~"), reason=text, danger=True)
    async with stage(size=size) as s:
        await ask(s, danger)
        shown = s.text()
        assert shown.index(text) < shown.index("rm -rf ~") < shown.index("Yes, once")
        rows = s.app.repl.panel.rows(size[0])
        (told,) = [span for row in rows for span in row.spans if span.text == text]
        assert told.role == "warning"
        assert "▸ n" in shown
        await s.press("enter")
        await s.until(lambda: s.session.answers == [(1, Answer(("no",)))])


async def test_backspace_and_pastes_reach_the_draft() -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("x", "z", "backspace")
        await s.paste("yes\nno")
        await s.until(lambda: s.app.repl.box.text == "xyes\nno")
        assert s.session.answers == []


async def test_what_is_held_when_the_question_goes_stays_in_the_draft() -> None:
    async with stage() as s:
        await ask(s, permission())
        await s.press("y")
        s.session.publish(Answered(id=1, answer=Answer(cancelled=True)))
        await s.gone("Yes, once")
        assert s.app.repl.box.text == "y"
        assert s.session.answers == []


LONG = "\n".join(f"step{n};" for n in range(60))


@pytest.mark.parametrize("size", [(40, 10), (80, 24)])
async def test_a_long_body_says_what_is_hidden_and_how_to_read_it(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        await ask(s, permission(LONG))
        screen = s.text()
        shown = sum(f"step{n};" in screen for n in range(60))
        assert shown
        hidden = f"… {60 - shown} more rows, PgDn shows them"
        assert hidden in screen
        assert "No rule covers" in screen
        assert all(word in screen for word in ("Run this", "Yes, once", "n  No", "t  Tell the"))
        for _ in range(60 - shown):
            await s.press("shift+down")
        await s.see("step59;", f"… {60 - shown} rows above, PgUp shows them")
        await s.press("shift+up")
        await s.see(f"… 1 more (PgDn), {59 - shown} above (PgUp)")
        for _ in range(60):
            await s.press("pageup")
        await s.see(hidden)
        assert s.app.repl.panel.at == 0
        assert s.session.answers == []


@pytest.mark.parametrize("size", [(40, 10), (80, 24)])
async def test_the_part_without_a_rule_is_seen(size: tuple[int, int]) -> None:
    command = LONG + "\ncurl " + "x" * 80 + " | sh -s now;\n" + LONG
    part = "sh -s now"
    question = msgspec.structs.replace(permission(command), lacking=(part,))
    async with stage(size=size) as s:
        await ask(s, question)
        assert part in s.text()


async def test_a_reason_that_is_cut_shows_it() -> None:
    question = msgspec.structs.replace(
        permission(LONG), reason="No rule covers: " + "make all, " * 30
    )
    async with stage(size=(40, 10)) as s:
        await ask(s, question)
        assert "default" in s.text(), "the status line is still there"
        (row,) = [row for row in s.text().splitlines() if "No rule covers" in row]
        assert row.endswith("…")


async def test_the_chosen_option_is_whole_on_a_small_screen() -> None:
    async with stage(size=(40, 10)) as s:
        await ask(s, permission())
        assert "Bash(npm test:*)" not in s.text()
        await s.press("down")
        await s.see("Bash(npm", "test:*)", "$ npm test", "No rule covers")


STORES = "Yes, and always allow Bash(touch:*), Bash(chmod +x yes.txt) (kept in your own settings)"


async def test_what_a_letter_would_store_is_read_before_it_answers() -> None:
    command = "touch yes.txt && chmod +x yes.txt && touch a-rather-long-name-of-a-file.txt"
    options = (Option("once", "Yes, once", "y"), Option("always", STORES, "Y"), OPTIONS[-1])
    question = msgspec.structs.replace(permission(command), options=options)
    async with stage(size=(40, 12)) as s:
        await ask(s, question)
        await s.press("Y")
        await s.see(
            "▸ Y  Yes", "Bash(chmod +x", "yes.txt) (kept in your own", "settings)", "$ touch"
        )
        await s.wait(2 * HOLD)
        assert s.session.answers == []
        s.clock.now += 2 * QUIET
        await s.press("Y")
        await s.until(lambda: s.session.answers == [(1, Answer(("always",)))])


async def test_what_cannot_be_read_at_all_is_not_taken() -> None:
    stores = "Yes, and always allow " + ", ".join(f"Bash(command{n}:*)" for n in range(30))
    options = (Option("once", "Yes, once", "y"), Option("always", stores, "Y"), OPTIONS[-1])
    async with stage(size=(40, 12)) as s:
        await ask(s, msgspec.structs.replace(permission(), options=options))
        for key in ("Y", "Y", "enter"):
            await s.press(key)
            s.clock.now += 2 * QUIET
        await s.see("make the window larger", "n  No")
        await s.wait(2 * HOLD)
        assert s.session.answers == []


@pytest.mark.parametrize("size", [(40, 12), (80, 14)])
async def test_an_edit_shows_first_what_changes(size: tuple[int, int]) -> None:
    before = tuple(f" line {n}" for n in range(1, 9))
    hunk = Hunk(1, 1, (*before, "-old text", "+new text", *before))
    edit = msgspec.structs.replace(write(1), body=(Diff("notes.txt", (hunk,), 1, 1),))
    async with stage(size=size) as s:
        await ask(s, edit)
        await s.see("old text", "PgUp")
        await s.press(*["pageup"] * 8)
        await s.see("line 1")


async def test_the_smallest_screen_counts_beside_the_only_row() -> None:
    async with stage(size=(40, 9)) as s:
        await ask(s, permission(LONG))
        assert "$ step0; … 59 more" in s.text()


@pytest.mark.parametrize(("size", "least"), [((80, 24), 12), ((120, 40), 26), ((40, 12), 2)])
async def test_rows_go_to_the_diff_before_blank_rows(size: tuple[int, int], least: int) -> None:
    async with stage(size=size) as s:
        await ask(s, write(300))
        rows = s.text().splitlines()
        first = next(n for n, row in enumerate(rows) if "Write notes.txt" in row)
        assert sum("+ line" in row for row in rows) >= least
        assert all(row.strip(" ▎") for row in rows[first:]), "no row is blank"
        assert not set("▀▄") & set("".join(rows))


async def test_there_is_air_where_everything_is_seen() -> None:
    async with stage() as s:
        await ask(s, permission())
        rows = s.text().splitlines()
        assert sum(row.strip() == "▎" for row in rows) == 3
        assert any(set(row) == {"▄"} for row in rows)


async def test_a_draft_of_many_lines_leaves_the_question_whole() -> None:
    async with stage() as s:
        await s.type("\n".join(f"word {n}" for n in range(9)))
        await ask(s, write(300))
        assert s.text().count("+ line") >= 4
        await s.see("Write notes.txt", "▸    Yes, once", "Tell the agent", "word 8", "default")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\tb.py", "a<U+0009>b.py"),
        ("a\nb.py", "a<U+000A>b.py"),
        ("a" + " " * 200 + ".py", "a<U+0020 \u00d7 200>.py"),
        ("a.py ", "a.py<U+0020>"),
    ],
)
async def test_blanks_in_the_name_of_a_file_are_seen(name: str, shown: str) -> None:
    async with stage() as s:
        await ask(s, msgspec.structs.replace(write(1), title=f"Write {name}"))
        await s.see(f"Write {shown}")


async def test_a_new_file_has_the_whole_width() -> None:
    async with stage(size=(130, 40)) as s:
        await ask(s, write(30))
        assert "│" not in s.text()


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_a_host_that_reads_as_another_is_told(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        await ask(s, permission("curl https://\u0430pple.com/install | tee log"))
        assert "xn--pple-43d.com" in s.text().replace("\n ▎ ", "")


@pytest.mark.parametrize("size", [(40, 12), (40, 10), (60, 9)])
async def test_what_is_fetched_is_seen_in_little_room(size: tuple[int, int]) -> None:
    address = "https://docs.example.com/a/very/long/guide"
    question = msgspec.structs.replace(
        permission(),
        title=f"Fetch {address}",
        body=(Text("What is it?"),),
        reason="Fetching from docs.example.com asks in default mode.",
    )
    async with stage(size=size) as s:
        await ask(s, question)
        assert address[:24] in s.text()
        shown = s.text()
        for _ in range(6):
            await s.press("shift+down")
            shown += s.text()
        assert "guide" in shown, "what does not fit goes on in the part that scrolls"
