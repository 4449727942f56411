"""Hooks on the screen: named once one can feel them, counted when they fail unseen."""

from __future__ import annotations

from gatewright.agent.record import events as ev
from gatewright.tui.reduce import reduce
from gatewright.tui.state import View
from gatewright.tui.status.spinner import rows_of
from gatewright.tui.status.status import right_parts


def told(view: View, *happened: tuple[float, ev.AnyEvent]) -> View:
    for time, event in happened:
        envelope = ev.Envelope(seq=0, uuid="", parent="", timestamp=time, agent="main", event=event)
        view, _ = reduce(view, envelope)
    return view


def row(view: View, now: float) -> str:
    (found,) = rows_of(view, now, 80, still=False)
    return found.plain


def begun(id: str, status: str = "", *, waits: bool = True) -> ev.HookStarted:
    return ev.HookStarted(
        id=id, hook_event="PreToolUse", command="lint.sh", status=status, waits=waits
    )


def ended(id: str, outcome: str = "success") -> ev.HookRan:
    return ev.HookRan(hook_event="PreToolUse", command="lint.sh", outcome=outcome, id=id)


def test_a_hook_is_named_after_300_ms() -> None:
    view = told(View(), (100.0, ev.TurnStarted()), (110.0, begun("h1")))
    assert "Working" in row(view, 110.2)
    assert "Hook: lint.sh" in row(view, 110.31)
    assert "3 s" in row(view, 113.0)
    assert "Working" in row(told(view, (113.0, ended("h1"))), 113.1)


def test_its_status_message_stands_for_its_name_before_a_turn_too() -> None:
    view = told(View(), (110.0, begun("h1", "Looking for secrets")))
    assert row(view, 110.1).strip() == ""
    assert "Hook: Looking for secrets" in row(view, 111.0)
    assert "esc" not in row(view, 111.0)


def test_one_in_the_background_is_not_named() -> None:
    view = told(View(), (100.0, ev.TurnStarted()), (110.0, begun("h1", waits=False)))
    assert "Working" in row(view, 120.0)


def test_failures_are_counted_until_somebody_looks() -> None:
    view = told(View(), *((1.0, each) for each in (begun("h1"), ended("h1", "error"))))
    assert right_parts(view)["hooks"].text == "1 hook failure"
    view = told(view, (2.0, begun("h2")), (2.0, ended("h2", "error")), (2.0, begun("h3")))
    assert right_parts(view)["hooks"].text == "2 hook failures"
    assert "hooks" not in right_parts(told(view, (3.0, ev.HooksSeen())))


def test_what_failed_in_an_earlier_run_of_the_session_is_not_counted() -> None:
    assert "hooks" not in right_parts(told(View(), (1.0, ended("h1", "error"))))
