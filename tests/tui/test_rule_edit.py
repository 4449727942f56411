"""An "always" that is changed before it is kept: its keys, what is shown of it, what it gives."""

from __future__ import annotations

import msgspec
import pytest

from gatewright.agent.record.events import Answered
from gatewright.tools.interact import Always, Answer, Ask, RuleWeighed, Weighed
from gatewright.tui.ask.guard import HOLD, QUIET
from tests.tui.asked import OPTIONS, ask, permission
from tests.tui.stage import Stage, stage

STEPS = (
    "Bash(git push origin main)", "Bash(git push origin:*)", "Bash(git push:*)", "Bash(git:*)",
)  # fmt: skip
PUSH = Always(rules=(STEPS[2],), steps=(STEPS,), place="this project's local settings")
BOTH = Always(
    rules=("Bash(make all:*)", "Bash(git fetch:*)"),
    steps=(("Bash(make all:*)",), ("Bash(git fetch:*)", "Bash(git:*)")),
    place="this project's local settings",
)
CHANGES = "e\u00a0changes\u00a0the\u00a0rule"
WORD = Always(rules=("Bash(make $T)",), steps=(("Bash(make $T)",),), place="here", offered=False)


def pushing(always: Always = PUSH, command: str = "git push origin main") -> Ask:
    options = OPTIONS if always.offered else (OPTIONS[0], OPTIONS[2])
    return msgspec.structs.replace(permission(command), always=always, options=options, call_id="c")


def found(rules: tuple[str, ...]) -> Weighed:
    """As the gate would: whatever does not begin so is none, and some know more than others."""
    each = tuple(
        RuleWeighed(
            f"Allows {rule}.",
            valid=rule.startswith("Bash(") and rule.endswith(")"),
            others=("git push --tags", "git push origin dev") if rule == STEPS[2] else (),
            warnings=("What it allows can run any code.",) if rule in ("Bash()", STEPS[3]) else (),
            wide=rule == STEPS[3],
        )
        for rule in rules
    )
    if not all(one.valid for one in each):
        return Weighed(each, "That is no rule yet.")
    off = [rule for rule in rules if "dev" in rule]
    return Weighed(each, "It would not cover this call." if off else "")


async def enter(s: Stage) -> None:
    """As a person presses it: not with the key before, as a paste does."""
    s.clock.now += 1
    await s.press("enter")


async def opened(s: Stage, always: Always = PUSH) -> None:
    s.session.weigh_hook = found
    await ask(s, pushing(always))
    await s.press("e")
    await s.see("kept in")


async def test_the_rule_is_changed_and_kept_as_it_was_shown() -> None:
    async with stage() as s:
        s.session.weigh_hook = found
        await ask(s, pushing())
        await s.see("Bash(npm test:*)", CHANGES)
        await s.press("e")
        shown = await s.see("Allows Bash(git push:*).", "It covers this call.", "up wider")
        assert "Of what was asked before, also: git push --tags · git push origin dev." in shown
        assert "kept in this project's local settings" in shown
        await s.press("down")
        await s.see("Bash(git push origin:*)", "It covers this call.")
        await s.press("backspace", "backspace", "backspace", "space", "m", ")")
        await s.see("Allows Bash(git push origin m).", "It covers this call.")
        await enter(s)
        wanted = Answer(("always",), rules=("Bash(git push origin m)",))
        await s.until(lambda: s.session.answers == [(1, wanted)])
        await s.gone("kept in")


async def test_every_key_is_weighed_and_the_last_is_what_counts() -> None:
    async with stage() as s:
        await opened(s)
        await s.press("backspace", "backspace", "backspace", "x", ")")
        await s.see("Allows Bash(git pushx).")
        assert s.session.weighed[-1] == (1, ("Bash(git pushx)",))
        assert (1, ("Bash(git push",)) in s.session.weighed


@pytest.mark.parametrize(
    ("typed", "why"),
    [(("backspace",), "That is no rule yet."), (("left", "d", "e", "v"), "would not cover this")],
)
async def test_what_is_no_rule_for_it_cannot_be_chosen(typed: tuple[str, ...], why: str) -> None:
    async with stage() as s:
        await opened(s)
        await s.press(*typed)
        shown = await s.see(why)
        assert "enter runs it" not in shown
        await enter(s)
        await enter(s)
        await s.wait(2 * HOLD)
        assert s.session.answers == []
        await s.see("kept in")


async def test_what_runs_any_code_is_kept_by_a_second_enter() -> None:
    async with stage() as s:
        await opened(s)
        await s.press("up")
        await s.see("Bash(git:*)", "What it allows can run any code.", "It covers this call.")
        await enter(s)
        await s.see("Enter once more keeps it")
        assert s.session.answers == []
        await enter(s)
        await s.until(lambda: s.session.answers == [(1, Answer(("always",), rules=(STEPS[3],)))])


async def test_the_second_enter_is_for_what_the_first_was_for() -> None:
    async with stage() as s:
        await opened(s)
        await s.press("up")
        await s.see("can run any code")
        await enter(s)
        await s.see("Enter once more keeps it")
        await s.press("down", "up")
        await s.see("It covers this call.")
        await enter(s)
        await s.see("Enter once more keeps it")
        assert s.session.answers == []


async def test_escape_leaves_the_edit_and_not_the_question() -> None:
    async with stage() as s:
        await opened(s)
        await s.press("left", "x", "escape")
        await s.see("Yes, once", "Bash(npm test:*)")
        await s.press("escape", "enter", "y")
        assert s.session.answers == [], "what was meant for the edit answers nothing"
        await s.press("backspace")
        s.clock.now += 2 * QUIET
        await s.press("e")
        await s.see("Bash(git push:*x)")
        await s.press("escape")
        s.clock.now += 2 * QUIET
        await s.press("Y")
        await s.until(lambda: s.session.answers == [(1, Answer(("always",)))])


async def test_keys_from_before_the_question_open_nothing() -> None:
    async with stage() as s:
        await ask(s, pushing(), guarded=True)
        await s.press("e", "enter")
        await s.wait(2 * HOLD)
        assert s.app.repl.box.text == "e"
        assert s.session.weighed == []
        assert s.session.answers == []


async def test_a_word_that_begins_with_the_key_is_a_word() -> None:
    async with stage() as s:
        await ask(s, pushing())
        await s.press("e", "x", "i", "t")
        await s.wait(2 * HOLD)
        assert s.app.repl.box.text == "exit"
        assert s.session.weighed == []


async def test_nothing_is_kept_before_it_was_weighed() -> None:
    async with stage() as s:
        s.session.weigh_hook = found
        await ask(s, pushing())
        s.app.repl.panel.weighed = lambda *_: None  # type: ignore[method-assign]
        await s.press("e")
        await s.see("Looking at it")
        await enter(s)
        await enter(s)
        await s.wait(2 * HOLD)
        assert s.session.answers == []


async def test_a_paste_goes_into_the_rule_and_its_line_end_keeps_nothing() -> None:
    async with stage() as s:
        await opened(s)
        await s.press("ctrl+u")
        await s.paste("Bash(git push\norigin main)\n")
        await s.see("Bash(git push origin main)")
        await s.wait(2 * HOLD)
        assert s.session.answers == []


async def test_several_rules_and_the_place_are_reached_by_tab() -> None:
    async with stage() as s:
        await opened(s, BOTH)
        keys = "enter runs it and keeps the rule  esc goes back  tab where it is kept"
        await s.see("▸ Bash(make all:*)", "Bash(git fetch:*)", keys)
        await s.press("tab", "up")
        await s.see("▸ Bash(git:*)", "What it allows can run any code.")
        await s.press("down", "tab")
        await s.see("▸ kept in this project's local settings", "left, right elsewhere")
        await s.press("right")
        await s.see("kept in this session only")
        await s.press("right")
        await s.see("kept in your own settings, for all projects")
        await enter(s)
        wanted = Answer(("always",), rules=("Bash(make all:*)", "Bash(git fetch:*)"), place="user")
        await s.until(lambda: s.session.answers == [(1, wanted)])


async def test_a_line_with_a_variable_has_its_own_way() -> None:
    async with stage() as s:
        s.session.weigh_hook = found
        await ask(s, pushing(WORD, "make $T"))
        shown = await s.see("Y  Yes, and keep a rule for it")
        assert CHANGES not in shown
        await s.press("e")
        await s.see("Bash(make $T)", "It covers this call.")
        await enter(s)
        await s.until(lambda: s.session.answers == [(1, Answer(("always",), rules=WORD.rules))])


@pytest.mark.parametrize("choose", [("e",), ("Y",), ("down", "down", "down", "enter")])
async def test_that_way_is_also_chosen_by_arrows(choose: tuple[str, ...]) -> None:
    async with stage() as s:
        s.session.weigh_hook = found
        await ask(s, pushing(WORD, "make $T"))
        await s.press(*choose)
        await s.see("Bash(make $T)", "It covers this call.")


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (120, 40), (60, 9)])
async def test_the_rule_the_verdict_and_the_way_out_are_always_seen(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        await opened(s)
        shown = await s.see("Bash(git push:*)", "It covers this call.", "enter runs it")
        assert "esc" in shown
        await s.press("backspace")
        shown = await s.see("That is no rule yet.", "esc goes back")
        assert "enter runs it" not in shown


async def test_what_does_not_fit_is_read_by_scrolling() -> None:
    async with stage(size=(40, 12)) as s:
        s.session.weigh_hook = lambda rules: Weighed(
            (RuleWeighed("Allows it.", warnings=tuple(f"Warning {n}." for n in range(9))),)
        )
        await ask(s, pushing())
        await s.press("e")
        await s.see("It covers this call.", "PgDn")
        for _ in range(9):
            await s.press("pagedown")
        await s.see("Warning 8.")


async def test_what_does_not_show_is_spelled_out() -> None:
    async with stage() as s:
        await opened(s)
        await s.press("left")
        await s.paste("\u202e\u200bx")
        assert "\u202e" not in s.text()
        rule = s.session.weighed[-1][1][0]
        assert rule.isprintable()


async def test_an_answer_from_elsewhere_closes_it() -> None:
    async with stage() as s:
        await opened(s)
        s.session.publish(Answered(id=1, answer=Answer(("once",))))
        await s.gone("kept in")
        await s.type("hello")
        assert s.app.repl.box.text == "hello"


async def test_the_command_stays_in_sight_where_there_is_room() -> None:
    async with stage(size=(100, 30)) as s:
        await opened(s)
        shown = await s.see("Allow always, and run it now", "Of what was asked before")
        assert "$ git push origin main" in shown


async def test_a_blank_before_the_cursor_is_seen() -> None:
    async with stage() as s:
        await opened(s)
        await s.press("left", "left", "left", "space")
        await s.see("Bash(git push ▏:*)")
