"""The time of an agent's row is without what a person took to answer it or those it waits for."""

from __future__ import annotations

from gatewright.agent.record import events as ev
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Ask
from gatewright.tui.agents.shown import asking
from gatewright.tui.agents.strip_rows import strip_rows
from gatewright.tui.reduce import reduce
from gatewright.tui.state import Appended, View
from gatewright.tui.transcript.agent import rows as drawn
from gatewright.tui.transcript.items import Ending

CHILD = "main/a1"
ASK = Ask(kind="permission", title="Run ls", body=(), options=())


def after(view: View, *events: tuple[float, ev.AnyEvent, str]) -> View:
    for at, event, agent in events:
        envelope = ev.Envelope(seq=0, uuid="", parent="", timestamp=at, agent=agent, event=event)
        view, _ = reduce(view, envelope)
    return view


def row_at(view: View, now: float) -> str:
    return strip_rows(list(view.agents.values()), asking(view), now, 90)[0].plain


def test_a_row_stands_still_while_the_person_is_asked_and_its_end_leaves_that_out() -> None:
    start = ev.AgentStarted(child=CHILD, kind="explore", prompt="look")
    works = ev.AgentProgressed(child=CHILD, state="Read", seconds=10.0)
    stands = ev.AgentProgressed(
        child=CHILD, state="asks", phase="waiting", seconds=12.0, still=True
    )
    view = after(View(), (100.0, start, MAIN), (110.0, works, CHILD), (112.0, stands, CHILD))
    assert " 12s" in row_at(view, 300.0)
    goes = ev.AgentProgressed(child=CHILD, state="answering", seconds=12.0)
    view = after(view, (312.0, goes, CHILD))
    assert " 15s" in row_at(view, 315.0)
    end = ev.AgentFinished(child=CHILD, ok=True, report="", ms=216_000, waited=200_000)
    view = after(view, (316.0, end, MAIN))
    assert " 16s" in row_at(view, 320.0)
    block = view.agents[CHILD].block
    assert block is not None
    assert "16.0 s" in drawn(block, False, 90)[0].plain


def test_a_stored_turn_says_its_time_without_the_answers() -> None:
    ended = ev.TurnEnded(Stop.COMPLETED, ms=90_000, waited=60_000)
    envelope = ev.Envelope(seq=0, uuid="", parent="", timestamp=0.0, agent=MAIN, event=ended)
    _, changes = reduce(View(), envelope)
    (ending,) = [c.item for c in changes if isinstance(c, Appended) and isinstance(c.item, Ending)]
    assert (ending.ms, ending.waited) == (30_000, 60_000)


def test_nobody_waits_for_an_agent_of_a_workflow_that_asks() -> None:
    ask, answer = ev.Asked(id=1, ask=ASK), ev.Answered(id=1, answer=Answer(cancelled=True))
    view = after(View(), (100.0, ev.TurnStarted(), MAIN), (101.0, ask, "main/w1"))
    view = after(view, (141.0, answer, "main/w1"))
    assert view.waited == 0.0
