"""What belongs to a key is waited for, and nothing else is."""

from __future__ import annotations

import asyncio
import threading

from tests.fakes.waiting import PATIENCE
from tests.tui.idle import SOON, wait_for_idle


async def test_what_is_ready_and_what_follows_from_it_is_done() -> None:
    done: list[str] = []
    loop = asyncio.get_running_loop()
    loop.call_soon(lambda: loop.call_soon(lambda: loop.call_soon(done.append, "third")))
    await wait_for_idle()
    assert done == ["third"]


async def test_a_timer_is_waited_for_when_it_is_due_soon() -> None:
    done: list[str] = []
    loop = asyncio.get_running_loop()
    loop.call_later(SOON / 2, done.append, "soon")
    far = loop.call_later(60, done.append, "far")
    async with asyncio.timeout(PATIENCE):
        await wait_for_idle(most=60)
    far.cancel()
    assert done == ["soon"]


async def test_a_thread_that_waits_for_the_test_holds_nothing_up() -> None:
    gate = threading.Event()
    waiting = asyncio.create_task(asyncio.to_thread(gate.wait, 10))
    async with asyncio.timeout(PATIENCE):
        await wait_for_idle(most=60)
    assert not waiting.done()
    gate.set()
    assert await waiting


async def test_what_keeps_itself_busy_ends_the_wait() -> None:
    loop = asyncio.get_running_loop()
    stop = threading.Event()

    def again() -> None:
        if not stop.is_set():
            loop.call_soon(again)

    again()
    async with asyncio.timeout(PATIENCE):
        await wait_for_idle(most=0.05)
    stop.set()
