"""The steps that the model set itself, above the prompt while some are open."""

from __future__ import annotations

import pytest

from gatewright.agent.record import events as ev
from gatewright.agent.record.events_of_past import Carried
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import Todo, TodoItem, TodoState
from gatewright.tui.status.steps import folded, steps
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import stage
from tests.tui.test_state import play


def listed(*states: TodoState) -> tuple[TodoItem, ...]:
    return tuple(TodoItem(f"step {n}", state) for n, state in enumerate(states, 1))


def plan(session: FakeSession, *states: TodoState) -> None:
    session.publish(
        ev.ToolStarted(call_id="t", name="TodoWrite", input={}, verb="Plan", target="the work"),
        ev.ToolFinished(
            call_id="t", ok=True, content=(), view=(Todo(listed(*states)),), summary="1/3"
        ),
    )


def plain(items: tuple[TodoItem, ...], room: int, width: int = 40) -> list[str]:
    return [row.plain for row in steps(items, width, room)]


def test_a_short_list_is_shown_whole() -> None:
    assert plain(listed("completed", "in_progress", "pending"), 5) == [
        "● step 1",
        "◐ step 2",
        "○ step 3",
    ]


@pytest.mark.parametrize("here", range(12))
@pytest.mark.parametrize("room", [3, 5, 8])
def test_a_long_one_shows_the_current_step_in_its_rows(here: int, room: int) -> None:
    done: list[TodoState] = ["completed"] * here
    left: list[TodoState] = ["pending"] * (11 - here)
    states: list[TodoState] = [*done, "in_progress", *left]
    rows = plain(listed(*states), room)
    assert len(rows) <= room
    assert f"◐ step {here + 1}" in rows
    told = sum(row.startswith(("● step", "○ step", "◐ step")) for row in rows)
    above = next((int(row.split()[1]) for row in rows if row.endswith(" done")), 0)
    below = next((int(row.split()[0]) for row in rows if row.endswith(" more")), 0)
    assert told + above + below == 12


def test_folded_it_is_the_current_step_and_how_many_are_done() -> None:
    (row,) = folded(listed("completed", "in_progress", "pending"), 40)
    assert row.plain == "◐ step 2  1 of 3 done"
    (row,) = folded(listed("completed", "in_progress"), 16)
    assert row.width <= 16
    assert folded((), 40) == []


async def test_it_stays_until_the_turn_is_over_and_all_is_done() -> None:
    session = FakeSession()
    async with stage(session) as s:
        session.publish(ev.TurnStarted())
        plan(session, "completed", "in_progress", "pending")
        assert "◐ step 2" in await s.see("○ step 3")
        plan(session, "completed", "completed", "completed")
        await s.see("● step 3")  # the rows stay: nothing jumps while the model goes on
        session.publish(ev.TurnEnded(stop=Stop.COMPLETED))
        await s.gone("step 3")


async def test_open_steps_outlive_the_turn_and_a_key_folds_them() -> None:
    session = FakeSession()
    async with stage(session) as s:
        plan(session, "completed", "in_progress", "pending")
        session.publish(ev.TurnEnded(stop=Stop.ABORTED_TOOLS))
        await s.see("● step 1", "◐ step 2", "○ step 3")
        await s.press("ctrl+x")
        assert "1 of 3 done" in await s.see("◐ step 2")
        assert "step 3" not in s.text()
        await s.press("ctrl+x")
        await s.see("○ step 3")


async def test_a_low_screen_has_one_row_for_them() -> None:
    session = FakeSession()
    async with stage(session, size=(40, 12)) as s:
        plan(session, "completed", "in_progress", "pending")
        assert "1 of 3 done" in await s.see("◐ step 2")
        assert "step 3" not in s.text()


def test_what_carries_a_conversation_on_carries_its_steps() -> None:
    kept = Carried(todo=listed("in_progress"))
    compacted = ev.Compacted(summary="x", trigger="auto", tokens_before=9, carried=kept)
    assert play(compacted)[0].todo == kept.todo
    assert play(compacted, ev.Rewound(to="", left="x"))[0].todo == ()
    assert play(compacted, ev.Cleared())[0].todo == ()
