"""The strip of agents: its rows, their order, its keys, and what each of them may do."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from gatewright.agent.record import events as ev
from gatewright.tools.interact import Answer
from gatewright.tui.agents.known import AgentRow, Agents, AgentState, finished, with_row
from gatewright.tui.agents.shown import STAYS, expiry, ordered, seen
from gatewright.tui.agents.strip_rows import strip_rows
from gatewright.tui.ask.guard import GUARD, HOLD
from gatewright.tui.transcript.agent import rows as drawn
from gatewright.tui.transcript.items import AgentBlock
from tests.tui.agent_scenes import agents, asks, crowd, ends, path, said, start, works
from tests.tui.stage import Stage, stage


def row(path: str, state: AgentState = "running", **facts: object) -> AgentRow:
    ended = 0.0 if state in ("running", "waiting") else 90.0
    return AgentRow(path=path, state=state, ended=ended, over=bool(ended), **facts)  # type: ignore[arg-type]


def names(rows: list[AgentRow]) -> str:
    return " ".join(each.path.removeprefix("main/") for each in rows)


def test_who_asks_stands_first_then_what_failed_what_runs_what_is_done() -> None:
    rows = [row("main/a", "done"), row("main/b"), row("main/c", "failed"), row("main/d")]
    assert names(ordered(rows, {"main/d"})) == "d c b a"


def test_a_child_stands_below_its_parent_which_stands_as_its_most_urgent() -> None:
    rows = [row("main/a"), row("main/b"), row("main/a/x", "done"), row("main/b/y")]
    assert names(ordered(rows, {"main/b/y"})) == "b b/y a a/x"
    orphan = [row("main/gone/z"), row("main/a", "done")]
    assert names(ordered(orphan, ())) == "gone/z a"


def test_an_end_goes_after_a_while_a_failure_once_it_was_read() -> None:
    kept = {each.path: each for each in (row("main/a", "done"), row("main/b", "failed"))}
    assert names(seen(kept, 90 + STAYS - 1)) == "a b"
    assert expiry(kept, 90 + STAYS - 1) == pytest.approx(1)
    assert names(seen(kept, 90 + STAYS + 1)) == "b"
    assert expiry(kept, 90 + STAYS + 1) == 0.0
    read = with_row(kept, row("main/b", "failed", read=True))
    assert seen(read, 90 + STAYS + 1) == []


def test_a_spent_budget_is_said_as_that_and_stays_until_it_was_read() -> None:
    event = ev.AgentFinished(child="main/a", ok=False, report="half", status="budget_exhausted")
    ended = finished(row("main/a"), event, 90.0)
    assert ended.state == "budget spent"
    assert names(ordered([row("main/b", "done"), ended], ())) == "a b"
    assert names(seen({"main/a": ended}, 90 + STAYS + 1)) == "a"
    assert "budget spent" in strip_rows([ended], (), 95.0, 98)[0].plain
    block = AgentBlock(id=1, path="main/a", label="a", task="t", state=ended.state, prompt="")
    assert "budget spent" in drawn(block, False, 98)[0].plain


def test_rows_are_bounded() -> None:
    kept: Agents = {}
    for number in range(1000):
        kept = with_row(kept, row(f"main/a{number}", "done"))
    assert len(kept) <= 240
    assert "main/a999" in kept


@pytest.mark.parametrize("width", [8, 20, 38, 50, 72, 98, 298])
def test_a_row_never_outgrows_the_screen(width: int) -> None:
    rows = [
        row(f"main/a{n}/b/c/d", name="漢字" * 9, task="e\u0301" * 90, doing="x" * 300, since=1.0)
        for n in range(9)
    ]
    for at in (None, 0, 8):
        for line in strip_rows(rows, {rows[0].path}, 9e5, width, at=at):
            assert line.width <= width


def test_what_is_not_shown_is_counted_and_summed() -> None:
    rows = [row(f"main/a{n}", cost=0.1) for n in range(19)]
    *_, last = strip_rows(rows, {"main/a0", "main/a1"}, 0.0, 80)
    assert last.plain.strip() == "16 more · 2 wait for you · $1.90 in all"
    assert len(strip_rows(rows[:3], (), 0.0, 80)) == 3


async def test_what_an_agent_does_is_seen_and_goes_by_itself() -> None:
    async with stage() as s:
        child = start(s.session, 0)
        works(s.session, child, 0)
        await s.see("◇ Explore", "Read harbour/locks.py", "4.2k", "$0.03")
        ends(s.session, child)
        await s.see("✓ Explore", "done")
        s.session.now += STAYS + 1
        s.app.repl.agents._again()  # pyright: ignore[reportPrivateUsage]
        await s.gone("✓ Explore")
        assert s.app.repl.agents.taken == 0
        assert s.app.repl.agents._timer is None, "nothing is left to wait for"  # pyright: ignore[reportPrivateUsage]


async def test_nothing_moves_while_agents_only_wait() -> None:
    async with stage() as s:
        child = start(s.session, 0, background=True)
        s.session.publish(
            ev.AgentProgressed(child=child, state="waits", phase="waiting"), agent=child
        )
        await s.see("◌ Explore")
        assert s.app.repl.agents._timer is None  # pyright: ignore[reportPrivateUsage]


@asynccontextmanager
async def entered() -> AsyncGenerator[Stage]:
    """Three agents and one below them; the person is in the strip, at the first."""
    async with stage(size=(100, 34)) as s:
        agents(s.session)
        await s.see("waits for you")
        s.session.publish(ev.Answered(id=1, answer=Answer(cancelled=True)))
        await s.settled()
        await s.press("down")
        await s.see("enter opens")
        s.clock.now += 2 * GUARD
        yield s


async def test_down_enters_and_arrows_move() -> None:
    async with entered() as s:
        await s.see("▸ ◇ Explore")
        await s.press("down")
        await s.see("▸   ◇ Plan")
        await s.press("down")
        await s.see("▸ ◇ general-purpose")
        await s.press("end")
        await s.see("▸ ✓ verification")
        await s.press("home", "up")
        await s.gone("enter opens")
        assert s.app.focused is s.app.repl.box


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_escape_leaves(key: str) -> None:
    async with entered() as s:
        await s.press(key)
        await s.gone("enter opens")
        assert s.app.focused is s.app.repl.box
        assert s.session.interrupts == 0


async def test_x_stops_the_one_under_the_cursor() -> None:
    async with entered() as s:
        await s.press("down", "x")
        assert s.session.stopped == [], "it waits whether a word is meant"
        await s.until(lambda: s.session.stopped == ["main/a0/a3"])


async def test_x_clears_what_has_ended() -> None:
    async with entered() as s:
        await s.press("end", "x")
        await s.gone("✓ verification")
        assert s.session.stopped == []
        await s.see("▸ ")


async def test_what_has_ended_is_cleared_one_after_the_other_and_nobody_is_stopped() -> None:
    async with stage(size=(100, 34)) as s:
        for number in range(4):
            child = start(s.session, number, background=True)
            if number:
                ends(s.session, child, status="failed")
        await s.see("✗ verification")
        await s.press("down")
        s.clock.now += 2 * GUARD
        await s.press("x")
        await s.gone("✗ general-purpose")
        await s.press("x", "x", "x")
        await s.gone("✗ Plan")
        await s.pilot.pause(2 * HOLD)
        await s.see("▸ ◇ Explore")
        assert s.session.stopped == []
        assert s.app.repl.box.text == "", "none of it was the beginning of a message"
        s.clock.now += 2 * GUARD
        await s.press("x")
        await s.until(lambda: s.session.stopped == [path(0)])


async def test_two_quick_x_clear_the_only_row_and_write_nothing() -> None:
    async with stage(size=(100, 34)) as s:
        ends(s.session, start(s.session, 0, background=True), status="failed")
        await s.see("✗ Explore")
        await s.press("down")
        s.clock.now += 2 * GUARD
        await s.press("x", "x")
        await s.gone("✗ Explore")
        assert s.app.repl.box.text == ""
        assert s.app.focused is s.app.repl.box


async def test_r_resumes() -> None:
    async with entered() as s:
        await s.press("end", "r")
        await s.until(lambda: s.session.resumed == ["main/a2"])
        await s.see("main/a2 cannot go on.")


async def test_a_sentence_stops_nobody() -> None:
    async with entered() as s:
        await s.press(*"xr no")
        await s.until(lambda: s.app.repl.box.text == "xrno" or s.app.repl.box.text == "xr no")
        await s.pilot.pause(2 * HOLD)
        assert s.session.stopped == s.session.resumed == []
        assert s.app.focused is s.app.repl.box


async def test_a_paste_is_for_the_prompt() -> None:
    async with entered() as s:
        await s.paste("x")
        await s.until(lambda: s.app.repl.box.text == "x")
        await s.pilot.pause(2 * HOLD)
        assert s.session.stopped == []


async def test_a_key_right_after_entering_does_nothing_to_an_agent() -> None:
    async with stage(size=(100, 34)) as s:
        start(s.session, 0)
        await s.see("◇ Explore")
        await s.press("down", "x")
        await s.pilot.pause(2 * HOLD)
        assert s.session.stopped == []
        assert s.app.repl.box.text == "x", "it was the beginning of a message"


async def test_an_x_that_is_held_is_for_the_row_it_was_pressed_on() -> None:
    async with entered() as s:
        await s.press("x")
        asks(s.session, path(1), 7)  # which would stand first from now on
        await s.pilot.pause(2 * HOLD)
        assert s.session.stopped in ([], ["main/a0"])


async def test_down_in_a_draft_or_in_the_history_does_not_enter() -> None:
    async with stage() as s:
        await s.type("one")
        await s.press("enter")
        start(s.session, 0)
        await s.see("◇ Explore")
        await s.press("up", "down")
        assert not s.app.repl.agents.entered, "it leads back from the history first"
        await s.press("down")
        assert s.app.repl.agents.entered


async def test_a_question_takes_the_keys_and_the_strip_leaves_them() -> None:
    async with entered() as s:
        asks(s.session, path(0), 7)
        await s.see("Explore asks")
        assert s.app.focused is s.app.repl.panel
        assert not s.app.repl.agents.entered


async def test_twenty_are_three_rows_and_all_can_be_reached() -> None:
    async with stage() as s:
        crowd(s.session)
        await s.see("17 more", "✗ Explore")
        await s.press("down")
        for _ in range(19):
            await s.press("down")
        await s.see("▸ ✓ Plan")


async def test_a_failure_stays_until_the_person_has_written() -> None:
    async with stage() as s:
        child = start(s.session, 0, background=True)
        ends(s.session, child, status="failed")
        s.session.now += 2 * STAYS
        s.app.repl.agents._again()  # pyright: ignore[reportPrivateUsage]
        await s.see("✗ Explore")
        s.session.publish(said("go on"))
        await s.gone("✗ Explore")


def doing(width: int, at: float = 12.0, **facts: object) -> str:
    one = row("main/a", kind="Explore", task="Find who renews the lease", since=1.0, **facts)  # type: ignore[arg-type]
    return strip_rows([one], (), at, width)[0].plain


def test_a_sentence_is_cut_at_its_end_and_a_file_keeps_its_name() -> None:
    why = "The model's service did not answer (503) after 12 tries."
    assert "failed: The model's service" in doing(80, state="failed", doing=why)
    assert "Run sleep 20; echo" in doing(72, doing="Run sleep 20; echo done && echo and more of it")
    assert "strip_rows.py" in doing(76, doing="Read gatewright/tui/agents/strip_rows.py")


async def test_a_wait_for_the_server_counts_down() -> None:
    waits = ev.AgentProgressed(
        child=path(0), state="waits for the server", phase="waiting", wait=11.0
    )
    async with stage() as s:
        child = start(s.session, 0)
        s.session.publish(waits, agent=child)
        await s.see("waits for the server 11 s")
        s.session.now += 4
        await s.wait(1.1)
        await s.see("waits for the server 7 s")


async def test_no_row_goes_while_somebody_is_in_the_strip() -> None:
    async with stage() as s:
        child = start(s.session, 0)
        ends(s.session, child)
        await s.see("✓ Explore")
        await s.press("down")
        await s.see("enter opens")
        s.session.now += STAYS + 1
        s.app.repl.agents._again()  # pyright: ignore[reportPrivateUsage]
        await s.see("✓ Explore", "enter opens")
        await s.press("escape")
        await s.gone("✓ Explore")
