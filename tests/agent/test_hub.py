"""Nothing durable is lost, whoever subscribes when and however slow they are."""

from __future__ import annotations

from gatewright.agent.record.events import Cleared, InputDelta, ModeChanged, Noticed, TextDelta
from gatewright.agent.record.hub import KEPT, MERGE_ABOVE, Hub
from gatewright.agent.record.ids import new_id


def hub() -> Hub:
    return Hub(clock=lambda: 1.0, new_id=new_id)


async def test_events_are_numbered_and_chained() -> None:
    made = hub()
    first = made.publish(Noticed(text="a"))
    delta = made.publish(TextDelta(text="x"))
    second = made.publish(Noticed(text="b"), agent="main/1")
    assert [first.seq, delta.seq, second.seq] == [1, 2, 3]
    assert (first.parent, second.parent, delta.uuid) == ("", first.uuid, "")
    assert second.agent == "main/1"


async def test_a_late_subscriber_gets_what_was_kept_then_live() -> None:
    made = hub()
    made.publish(Noticed(text="a"))
    made.publish(TextDelta(text="gone"))
    subscription = made.subscribe()
    made.publish(TextDelta(text="live"))
    events = [envelope.event for envelope in await subscription.batch()]
    assert events == [Noticed(text="a"), TextDelta(text="live")]
    assert made.subscribe(since=3).waiting() == []


async def test_a_slow_subscriber_is_bounded_and_loses_no_text() -> None:
    made = hub()
    slow = made.subscribe()
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
    old = hub()
    stored = [old.publish(Noticed(text=str(number))) for number in range(3)]
    made = hub()
    made.restore(stored)
    new = made.publish(Noticed(text="new"))
    assert (new.seq, new.parent) == (4, stored[-1].uuid)
    subscription = made.subscribe()
    assert len(subscription.waiting()) == 4


async def test_closing_ends_the_iteration() -> None:
    made = hub()
    subscription = made.subscribe()
    made.publish(Noticed(text="a"))
    made.close()
    assert [envelope.event async for envelope in subscription] == [Noticed(text="a")]


def test_others_do_not_stand_in_the_branch() -> None:
    hub = Hub(clock=lambda: 1.0, new_id=new_id)
    first = hub.publish(Noticed(text="mine"))
    child = hub.publish(Noticed(text="a child's"), agent="main/a1")
    second = hub.publish(Noticed(text="mine again"))
    assert (child.parent, second.parent) == (first.uuid, first.uuid)


def test_what_is_kept_is_bounded() -> None:
    hub = Hub(clock=lambda: 1.0, new_id=new_id)
    for number in range(KEPT + 10):
        hub.publish(Noticed(text=str(number)))
    assert len(hub.kept()) <= KEPT
    last = hub.publish(Cleared())
    assert list(hub.kept()) == [last]
