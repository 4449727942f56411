"""Nothing durable is lost, whoever follows which agent, when, and however slow they are."""

from __future__ import annotations

import pytest

from gatewright.agent.record.events import (
    AgentFinished,
    AnyEvent,
    Cleared,
    Decided,
    InputDelta,
    ModeChanged,
    Noticed,
    TextDelta,
)
from gatewright.agent.record.hub import KEPT, MERGE_ABOVE, OVERHEARD
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import Journal, of_main
from tests.fakes.journals import journal


async def test_events_are_numbered_and_chained() -> None:
    made = journal()
    first = made.publish(Noticed(text="a"))
    delta = made.publish(TextDelta(text="x"))
    second = made.publish(Noticed(text="b"), agent="main/1")
    assert [first.seq, delta.seq, second.seq] == [1, 2, 3]
    assert (first.parent, second.parent, delta.uuid) == ("", "", "")
    assert second.agent == "main/1"


async def test_a_late_subscriber_gets_what_was_kept_then_live() -> None:
    made = journal()
    made.publish(Noticed(text="a"))
    made.publish(TextDelta(text="gone"))
    subscription = made.hub().subscribe()
    made.publish(TextDelta(text="live"))
    events = [envelope.event for envelope in await subscription.batch()]
    assert events == [Noticed(text="a"), TextDelta(text="live")]
    assert made.hub().subscribe(since=3).waiting() == []


async def test_a_slow_subscriber_is_bounded_and_loses_no_text() -> None:
    made = journal()
    slow = made.hub().subscribe()
    made.publish(ModeChanged(mode="plan", by="user"))
    for _ in range(5 * MERGE_ABOVE):
        made.publish(TextDelta(text="ab"))
    made.publish(InputDelta(call_id="1", name="R", json="{"))
    made.publish(InputDelta(call_id="1", name="R", json="}"))
    made.publish(InputDelta(call_id="2", name="R", json="{}"))
    made.publish(Noticed(text="end"))
    events = [envelope.event for envelope in slow.waiting()]
    assert len(events) <= MERGE_ABOVE + 4
    texts = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert texts == "ab" * 5 * MERGE_ABOVE
    assert events[-3:] == [
        InputDelta(call_id="1", name="R", json="{}"),
        InputDelta(call_id="2", name="R", json="{}"),
        Noticed(text="end"),
    ]


async def test_restored_history_continues_branch_and_numbers() -> None:
    old = journal()
    stored = [old.publish(Noticed(text=str(number))) for number in range(3)]
    made = journal()
    made.restore(stored)
    new = made.publish(Noticed(text="new"))
    assert (new.seq, new.parent) == (4, stored[-1].uuid)
    subscription = made.hub().subscribe()
    assert len(subscription.waiting()) == 4


async def test_closing_ends_the_iteration() -> None:
    made = journal()
    subscription = made.hub().subscribe()
    made.publish(Noticed(text="a"))
    made.close()
    assert [envelope.event async for envelope in subscription] == [Noticed(text="a")]


def test_others_do_not_stand_in_the_branch() -> None:
    made = journal()
    first = made.publish(Noticed(text="mine"))
    child = made.publish(Noticed(text="a child's"), agent="main/a1")
    second = made.publish(Noticed(text="mine again"))
    assert (child.parent, second.parent) == ("", first.uuid), "each branch hangs in its own hub"


def test_what_is_kept_is_bounded() -> None:
    made = journal()
    for number in range(KEPT + 10):
        made.publish(Noticed(text=str(number)))
    assert len(made.hub().kept()) <= KEPT
    last = made.publish(Cleared())
    assert list(made.hub().kept()) == [last]


def test_twenty_children_leave_the_main_agents_events_whole_and_a_slow_reader_merged() -> None:
    made = journal()
    mine = [made.publish(Noticed(text=str(number))) for number in range(KEPT - 1)]
    slow, watcher = made.hub().subscribe(), made.hub("main/a0").subscribe()
    for number in range(20 * 20_000):
        made.publish(TextDelta(text="x"), agent=f"main/a{number % 20}")
    for number in range(KEPT):
        decided = Decided(
            call_id=str(number), tool="Read", target="", behavior="allow", stage="", reason=""
        )
        made.publish(decided, agent="main/a1")
    assert list(made.hub().kept()) == mine
    assert len(slow.waiting()) == len(mine) + KEPT, "of what children do only what must be known"
    assert len(watcher.waiting()) <= MERGE_ABOVE + 1
    assert len(made.hub().subscribe().waiting()) == len(mine) + OVERHEARD


def test_what_must_be_known_reaches_every_agent_above_once() -> None:
    made, child = journal(), "main/a/b"
    above = [made.hub(name).subscribe() for name in ("main", "main/a", child)]
    told = made.publish(AgentFinished(child="b", ok=True, report="done"), agent=child)
    made.publish(Noticed(text="not above"), agent=child)
    assert [len(each.waiting()) for each in above] == [1, 1, 2]
    assert made.hub().kept() == [], "it stands in nobody else's branch"
    assert [told] == made.hub().subscribe().waiting(), "but who comes late hears of it"


def test_an_agent_that_ended_is_forgotten_and_its_followers_are_let_go() -> None:
    made = journal()
    following = made.hub("main/a").subscribe()
    made.publish(Noticed(text="last"), agent="main/a")
    made.forget("main/a")
    made.forget("main")
    assert [e.event for e in following.waiting()] == [Noticed(text="last")]
    assert made.hub("main/a").kept() == []
    assert made.publish(Noticed(text="still here")).agent == "main"


def test_all_see_all_events_in_one_order_also_when_a_fold_publishes() -> None:
    seen: list[tuple[str, AnyEvent]] = []

    def answers(event: AnyEvent) -> None:
        seen.append(("first", event))
        if event == Noticed(text="a"):
            made.publish(Noticed(text="b"))

    made = Journal(clock=lambda: 1.0, new_id=new_id)
    made.publish(Noticed(text="before"))
    following = made.hub().subscribe()
    assert following.waiting() == [], "nothing is handed on before all who listen are known"
    made.begin((of_main(answers), of_main(lambda event: seen.append(("second", event)))))
    made.publish(Noticed(text="a"))
    order = [Noticed(text=text) for text in ("before", "a", "b")]
    assert [envelope.event for envelope in following.waiting()] == order
    assert seen == [(who, event) for event in order for who in ("first", "second")]
    with pytest.raises(RuntimeError, match="said once"):
        made.begin(())
