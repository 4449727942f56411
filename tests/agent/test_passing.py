"""Who comes in the middle of a turn sees what still holds of it, and nothing that is over."""

from __future__ import annotations

from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    AnyEvent,
    AssistantMessage,
    CheckStarted,
    Decided,
    HookRan,
    HookStarted,
    InputDelta,
    RetryScheduled,
    TasksChanged,
    TextDelta,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from gatewright.agent.record.journal import Journal
from gatewright.agent.record.messages import Usage
from gatewright.agent.record.passing import MOST
from gatewright.agent.turn.stop import Stop
from tests.fakes.journals import journal

WRITES = ToolStarted(call_id="c1", name="Bash", input={}, verb="Run", target="make")
RUNS = ToolProgressed(call_id="c1", tail="half", size=4, seconds=2.0, movable=True)
DONE = ToolFinished(call_id="c1", ok=True, content=())
WRITTEN = AssistantMessage(id="m1", model="m", parts=())
SPENT = UsageChanged(usage=Usage(input=3), cost=0.5, context=7, window=10)


def seen(made: Journal) -> list[AnyEvent]:
    """By one who comes now."""
    events = made.hub().subscribe(streamed=True)
    events.close()
    return [envelope.event for envelope in events.waiting()]


def passed(*events: AnyEvent) -> list[AnyEvent]:
    made = journal()
    for event in events:
        made.publish(event)
    return [event for event in seen(made) if not event.durable]


def test_a_turn_a_call_and_the_answer_that_is_being_written() -> None:
    held: list[AnyEvent] = [TurnStarted(), RUNS, TextDelta(text="a"), TextDelta(text="b")]
    assert passed(TurnStarted(), WRITES, replaced(RUNS), RUNS, *held[2:]) == held


def replaced(event: ToolProgressed) -> ToolProgressed:
    """What was known before."""
    return ToolProgressed(call_id=event.call_id, tail="", size=0, seconds=0.5)


def test_it_comes_in_the_order_in_which_it_happened() -> None:
    made = journal()
    for event in (TurnStarted(), WRITES, RUNS, TextDelta(text="a")):
        made.publish(event)
    assert seen(made) == [TurnStarted(), WRITES, RUNS, TextDelta(text="a")]


def test_what_is_over_is_not_told() -> None:
    ended = TurnEnded(stop=Stop.COMPLETED)
    check = CheckStarted(call_id="c1")
    verdict = Decided(
        call_id="c1", tool="Bash", target="make", behavior="allow", stage="judge", reason=""
    )
    hook = HookStarted(id="h1", hook_event="Stop", command="x")
    ran = HookRan(id="h1", hook_event="Stop", command="x", outcome="success")
    assert passed(TurnStarted(), WRITES, RUNS, DONE) == [TurnStarted()]
    assert passed(TurnStarted(), WRITES, RUNS, ended) == []
    assert passed(check, verdict) == []
    assert passed(check) == [check]
    assert passed(hook) == [hook]
    assert passed(hook, ran) == []


def test_why_an_answer_does_not_come_until_it_comes() -> None:
    retry = RetryScheduled(attempt=1, attempts=3, seconds=9.0, reason="It is full")
    assert passed(TurnStarted(), retry) == [TurnStarted(), retry]
    assert passed(TurnStarted(), retry, TextDelta(text="a")) == [TurnStarted(), TextDelta(text="a")]
    assert passed(InputDelta(call_id="c", name="Write", json="{")) == [
        InputDelta(call_id="c", name="Write", json="")
    ]
    assert passed(InputDelta(call_id="c", name="Write", json="{"), WRITTEN) == []


def test_background_work_without_the_ends_that_were_told() -> None:
    runs = TasksChanged(running=("b1 make",))
    ended = TasksChanged(running=("b1 make",), ended="b2", status="exit 0")
    assert passed(ended) == [runs]
    assert passed(SPENT, TurnEnded(stop=Stop.COMPLETED)) == [SPENT]


def test_what_agents_are_at() -> None:
    made = journal()
    made.publish(AgentStarted(child="main/a1", kind="explore", prompt="Look"))
    at = AgentProgressed(child="main/a1", state="Read")
    made.publish(AgentProgressed(child="main/a1", state="answering"))
    made.publish(at)
    assert seen(made)[1:] == [at]
    made.publish(AgentFinished(child="main/a1", ok=True, report=""))
    assert [event for event in seen(made) if not event.durable] == []


def test_it_is_bounded() -> None:
    made = journal()
    for number in range(2 * MOST):
        made.publish(ToolProgressed(call_id=f"c{number}", tail="", size=0, seconds=0.0))
    assert len(seen(made)) == MOST
