"""The line above the prompt: what runs, and how long until it is tried again."""

from __future__ import annotations

from gatewright.agent.record import events as ev
from gatewright.agent.record.messages import TextPart, Usage
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import Todo, TodoItem
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tui.reduce import reduce
from gatewright.tui.state import Appended, View
from gatewright.tui.status.spinner import rows_of
from gatewright.tui.transcript.items import Ending


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


def told(view: View, *happened: tuple[float, ev.AnyEvent]) -> View:
    for time, event in happened:
        view, _ = reduce(view, at(time, event))
    return view


def begun(id: str, target: str) -> ev.AnyEvent:
    return ev.ToolStarted(call_id=id, name="Bash", input={}, verb="Run", target=target)


def test_a_call_shows_its_own_time_of_that_of_the_turn() -> None:
    view = told(View(), (100.0, ev.TurnStarted()), (140.0, begun("a", "make")))
    assert "make" not in row(view, 140.5)  # it stands in the conversation
    assert "Working  40 s  esc" in row(view, 140.5)
    assert "Working  3 s of 43 s" in row(view, 143.0)
    answered = told(view, (160.0, ev.ToolProgressed(call_id="a", tail="", size=0, seconds=1.0)))
    assert "Working  2 s of 1 min 01 s" in row(answered, 161.0)
    view = told(view, (150.0, begun("b", "ls")))
    assert "2 s of 52 s" in row(view, 152.0)
    view = told(view, (153.0, ev.ToolFinished(call_id="b", ok=True, content=())))
    assert "14 s of 54 s" in row(view, 154.0)
    view = told(view, (155.0, ev.ToolFinished(call_id="a", ok=True, content=())))
    assert "Working  56 s" in row(view, 156.0)
    view = told(view, (160.0, ev.InputDelta(call_id="c", name="Edit", json="")))
    view = told(view, (162.0, ev.InputDelta(call_id="c", name="Edit", json="")))
    assert "Preparing Edit  3 s of 1 min 03 s" in row(view, 163.0)


ASK = Ask(kind="permission", title="Run make", body=(), options=(Option("once", "Yes", "y"),))


def test_the_time_that_a_person_takes_is_nobody_elses() -> None:
    view = told(View(), (100.0, ev.TurnStarted()), (110.0, begun("a", "make")))
    view = told(view, (112.0, ev.Asked(id=1, ask=ASK)))
    assert rows_of(view, 130.0, 80, still=False) == []
    view = told(view, (172.0, ev.Answered(id=1, answer=Answer(choices=("once",)))))
    assert "4 s of 14 s" in row(view, 174.0)
    view = told(view, (176.0, ev.ToolFinished(call_id="a", ok=True, content=())))
    assert "Working  17 s" in row(view, 177.0)
    ended = ev.TurnEnded(stop=Stop.COMPLETED, ms=80_000)
    _view, changes = reduce(view, at(180.0, ended))
    (ending,) = (c.item for c in changes if isinstance(c, Appended))
    assert isinstance(ending, Ending)
    assert ending.ms == 20_000


def test_a_question_of_an_agent_in_the_background_stops_no_clock() -> None:
    asked = ev.Envelope(
        seq=0, uuid="", parent="", timestamp=110.0, agent="main/a1", event=ev.Asked(id=1, ask=ASK)
    )
    started = ev.AgentStarted(child="main/a1", kind="explore", prompt="look", background=True)
    view = told(View(), (100.0, ev.TurnStarted()), (101.0, started))
    view, _ = reduce(view, asked)
    view = told(view, (140.0, ev.Answered(id=1, answer=Answer(choices=("once",)))))
    assert "Working  45 s" in row(view, 145.0)


def test_the_step_that_is_worked_on_is_named_and_what_is_in_the_way_before_it() -> None:
    listed = Todo((TodoItem("Read"), TodoItem("Adding a test", "in_progress")))
    plan = ev.ToolFinished(call_id="p", ok=True, content=(), view=(listed,))
    view = told(View(), (100.0, ev.TurnStarted()), (101.0, begun("p", "")), (102.0, plan))
    assert "Adding a test  3 s  esc" in row(view, 103.0)
    assert "Adding a test" in row(told(view, (103.0, begun("b", "ls"))), 104.0)
    silent = told(view, (160.0, ev.StreamSilent(seconds=30.0, limit=90.0)))
    assert "Nothing from the model for 30 s" in row(silent, 161.0)


def test_what_was_written_in_this_turn_is_counted_also_before_its_number_is_known() -> None:
    def used(output: int) -> ev.AnyEvent:
        return ev.UsageChanged(usage=Usage(output=output), cost=0.0, context=0, window=0)

    view = told(View(), (90.0, used(5000)), (100.0, ev.TurnStarted()))
    assert "tokens" not in row(view, 110.0)
    view = told(view, (101.0, ev.TextDelta(text="word " * 100)))
    assert "10 s · 125 tokens" in row(view, 110.0)
    done = ev.AssistantMessage(id="m", model="x", parts=(TextPart("word " * 100),))
    view = told(view, (102.0, done), (102.0, used(7100)))
    assert "10 s · 2.1k tokens" in row(view, 110.0)


def test_a_server_that_is_full_counts_down_too() -> None:
    view = told(View(), (90.0, ev.TurnStarted()), (100.0, ev.RequestQueued(seconds=12, ahead=0)))
    for now, left in ((100.0, 12), (103.5, 9), (111.2, 1)):
        assert f"takes no requests yet  again in {left} s  esc" in row(view, now)
    assert "again in" not in row(view, 112.0)
    behind = told(view, (112.5, ev.RequestQueued(seconds=0, ahead=2)))
    assert "Waits for its turn at the server, 2 before it" in row(behind, 113.0)
