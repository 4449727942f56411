"""What agents are at hurries nobody: the newest word of each, together, a few times a second."""

from __future__ import annotations

import asyncio
import time

from gatewright.agent.record.events import AgentFinished, AgentProgressed, Envelope, Noticed
from gatewright.agent.record.hub import Hub
from gatewright.tui.event_pump import CALM, Calm, streaming
from tests.fakes.journals import journal
from tests.fakes.waiting import PATIENCE


def doing(number: int, child: str = "main/a") -> AgentProgressed:
    return AgentProgressed(child=child, state=f"step {number}")


async def taken(events: Calm) -> list[Envelope]:
    async with asyncio.timeout(PATIENCE):
        return await events.batch()


async def test_twenty_agents_that_say_a_lot_are_a_few_batches_a_second() -> None:
    made = journal()
    events = Calm(made.hub().subscribe())
    batches: list[list[Envelope]] = []
    ends = time.monotonic() + 3 * CALM

    async def watch() -> None:
        while batch := await events.batch():
            batches.append(batch)

    watching = asyncio.create_task(watch())
    number = 0
    while time.monotonic() < ends:
        for child in range(20):
            made.publish(doing(number, f"main/a{child}"), f"main/a{child}")
        number += 1
        await asyncio.sleep(0)
    made.close()
    await watching
    assert 2 <= len(batches) <= 6
    assert all(len(batch) <= 20 for batch in batches)
    last = [e.event.state for e in batches[-1] if isinstance(e.event, AgentProgressed)]
    assert set(last) <= {f"step {number - 1}", f"step {number - 2}"}


async def test_facts_wait_for_nothing() -> None:
    made = journal()
    events = Calm(made.hub().subscribe())
    made.publish(doing(1), "main/a")
    assert len(await taken(events)) == 1
    made.publish(doing(2), "main/a")
    made.publish(Noticed(text="fact"))
    (fact,) = await taken(events)
    assert isinstance(fact.event, Noticed)
    (late,) = await taken(events)
    assert late.event == doing(2)


async def test_what_was_said_before_an_end_is_not_said_after_it() -> None:
    made = journal()
    events = Calm(made.hub().subscribe())
    made.publish(doing(1), "main/a")
    await taken(events)
    made.publish(doing(2), "main/a")
    made.publish(AgentFinished(child="main/a", ok=True, report=""))
    (told,) = await taken(events)
    assert isinstance(told.event, AgentFinished)
    made.close()
    assert await taken(events) == []


async def test_what_is_held_is_told_at_the_end() -> None:
    hub = Hub()
    events = Calm(hub.subscribe())
    made = journal()
    hub.take(made.publish(doing(1)))
    await taken(events)
    hub.take(made.publish(doing(2)))
    hub.close()
    assert [e.event for e in await taken(events)] == [doing(2)]
    assert await taken(events) == []


def test_what_is_judged_is_no_reason_to_paint() -> None:
    made = journal()
    assert streaming([made.publish(doing(1))])
