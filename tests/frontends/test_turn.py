"""Who stops listening in mid-turn misses nothing of a later one."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from gatewright.agent.frontends.turn import Follower
from gatewright.agent.record.events import TurnEnded
from tests.fakes.house import House, house


async def listen(built: House, follower: Follower, text: str) -> list[str]:
    async with aclosing(follower.turn(text)) as envelopes:
        return [
            envelope.event.stop async for envelope in envelopes
            if isinstance(envelope.event, TurnEnded)
        ]  # fmt: skip


async def steps() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_listener_that_is_cancelled_leaves_no_task_that_takes_events() -> None:
    async with house("wait: gate\nsay: One.\n---\nsay: Two.") as built:
        follower = Follower(built.session)
        before = asyncio.all_tasks()
        first = asyncio.create_task(listen(built, follower, "one"))
        await built.provider.reached("gate")
        await steps()  # it has heard all there is, and waits for more
        first.cancel()
        await asyncio.wait([first])
        await steps()
        waiting = [task for task in asyncio.all_tasks() - before if "Subscription" in repr(task)]
        assert waiting == []
        built.provider.release("gate")
        assert await listen(built, follower, "two") == ["completed"]
        follower.close()
