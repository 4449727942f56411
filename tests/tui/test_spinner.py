"""The line above the prompt: what runs, and how long until it is tried again."""

from __future__ import annotations

from gatewright.agent.record import events as ev
from gatewright.tui.reduce import reduce
from gatewright.tui.state import View
from gatewright.tui.status.spinner import rows_of


def row(view: View, now: float) -> str:
    (found,) = rows_of(view, now, 80, still=False)
    return found.plain


def test_a_wait_counts_down_also_where_the_reason_is_long() -> None:
    reason = "anthropic limits the rate of requests (429): " + "too many of them, " * 9
    view = View(busy_since=90.0, doing=reason, until=107.0, tries="2 of 10")
    for at, left in ((100.0, 7), (103.2, 4), (106.5, 1)):
        assert f"again in {left} s (2 of 10)  esc to stop" in row(view, at)
        assert "limits the rate of requests" in row(view, at)
    assert "again in" not in row(view, 107.0)
    assert "17 s" in row(view, 107.0)


def at(time: float, event: ev.AnyEvent) -> ev.Envelope:
    return ev.Envelope(seq=0, uuid="", parent="", timestamp=time, agent="main", event=event)


def test_a_command_shows_its_own_time_and_what_follows_the_time_of_the_turn() -> None:
    def begun(id: str, target: str) -> ev.AnyEvent:
        return ev.ToolStarted(call_id=id, name="Bash", input={}, verb="Run", target=target)

    def told(view: View, *happened: tuple[float, ev.AnyEvent]) -> View:
        for time, event in happened:
            view, _ = reduce(view, at(time, event))
        return view

    view = told(View(), (100.0, ev.TurnStarted()), (140.0, begun("a", "make")))
    assert "Run make  esc" in row(view, 140.5)
    assert "Run make  3 s" in row(view, 143.0)
    answered = told(view, (160.0, ev.ToolProgressed(call_id="a", tail="", size=0, seconds=1.0)))
    assert "Run make  2 s" in row(answered, 161.0)
    view = told(view, (150.0, begun("b", "ls")))
    assert "Run ls  2 s" in row(view, 152.0)
    view = told(view, (153.0, ev.ToolFinished(call_id="b", ok=True, content=())))
    assert "Run make  14 s" in row(view, 154.0)
    view = told(view, (155.0, ev.ToolFinished(call_id="a", ok=True, content=())))
    assert "Working  56 s" in row(view, 156.0)
    view = told(view, (160.0, ev.InputDelta(call_id="c", name="Edit", json="")))
    view = told(view, (162.0, ev.InputDelta(call_id="c", name="Edit", json="")))
    assert "Preparing Edit  3 s" in row(view, 163.0)
