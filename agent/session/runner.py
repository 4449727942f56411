"""Takes up what was typed and runs turns, one at a time, for as long as the session lives.

Whatever goes wrong on the way to a turn ends that turn and not the runner: an input that was taken
up always gets a TurnStarted and a TurnEnded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.record.events import (
    AnyEvent,
    InputRefused,
    Noticed,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.session.inbox import Inbox, Input
from gatewright.agent.turn.loop import DEFECT
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import Content

CLOSE_LIMIT = 5.0

T = TypeVar("T")

log = logging.getLogger(__name__)


class RunnerPorts(msgspec.Struct, frozen=True, kw_only=True):
    publish: Callable[[AnyEvent], None]
    arrived: Callable[[Input], Awaitable[InputRefused | None]]  # None: it is taken up
    brought: Callable[[Input], Awaitable[Sequence[tuple[Content, ...]]]]  # what comes with it
    # What a turn needs, then the turn, which emits its own start and end. Raises GatewrightError.
    ready: Callable[[], Awaitable[Callable[[], Awaitable[object]]]]
    opening: Callable[[], Awaitable[None]]  # before the first turn
    taken: Callable[[Input], None]  # before it is published


class Runner:
    """Owns the inbox and the task that empties it."""

    def __init__(self, ports: RunnerPorts) -> None:
        self._ports = ports
        self._inbox = Inbox()
        self._turn: asyncio.Future[Any] | None = None
        self._untold = False  # a turn is under way whose beginning nobody was told
        self._took = False
        self._working = asyncio.Lock()  # held by a turn, or by work on the past
        self.opened = asyncio.Event()  # what is asked before the first turn is answered
        self._idle = asyncio.Event()
        self._idle.set()
        self._task = asyncio.create_task(self._run(), name="session runner")

    @property
    def busy(self) -> bool:
        """A turn is running or about to."""
        return not self._idle.is_set()

    def put(self, item: Input) -> None:
        if item.wakes:
            self._idle.clear()
        self._inbox.put(item)
        if self._turn is not None:
            self._tell_queue()

    def take_back(self) -> tuple[Input, ...]:
        items = self._inbox.take_back()
        self._tell_queue()
        return items

    def interrupt(self) -> bool:
        """Stop what runs; False when nothing does."""
        if self._turn is None or self._turn.done():
            return False
        return self._turn.cancel()

    @property
    def waiting(self) -> int:
        return len(self._inbox)

    async def arrives(self) -> None:
        """Until something waits to be taken up; for a call of the turn that runs."""
        while not self._inbox.wakes:
            await self._inbox.news()

    async def halt(self, seconds: float) -> None:
        """Stop what runs, and take up nothing more; whoever closes it waits for the rest."""
        self._task.cancel()
        if self._turn is not None:
            self._turn.cancel()
            await asyncio.wait([self._turn], timeout=seconds)

    async def idle(self) -> None:
        await self._idle.wait()

    async def close(self) -> None:
        """Stop the turn, which still settles its calls, or work on the past."""
        self._task.cancel()
        await asyncio.wait([self._task], timeout=CLOSE_LIMIT)
        if self._turn is not None:
            self._turn.cancel()
            await asyncio.wait([self._turn], timeout=CLOSE_LIMIT)

    async def take_inputs(self) -> bool:
        """Publish everything that waits, each with what it brings along, even when cancelled."""
        self._took = True
        waiting, taken = list(self._inbox.take()), False
        try:
            while waiting:
                if (refused := await self._ports.arrived(waiting[0])) is not None:
                    self._ports.publish(refused)
                    del waiting[0]
                    continue
                taken = True
                for content in await self._ports.brought(waiting[0]):
                    self._ports.publish(UserMessage(content=content, hidden=True))
                self._publish_input(waiting.pop(0))
        finally:
            for item in waiting:
                self._publish_input(item)
            self._tell_queue()
        return taken

    def _publish_input(self, item: Input) -> None:
        self._ports.taken(item)
        self._ports.publish(item.message())

    async def alone(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do this while no turn runs; an interrupt ends it like a turn."""
        if self.busy:
            raise SessionError("Interrupt the running turn first (Esc).")
        self._idle.clear()
        async with self._working:
            task = asyncio.ensure_future(work())
            self._turn = task
            try:
                return await task
            except asyncio.CancelledError:
                caller = asyncio.current_task()
                if caller is not None and caller.cancelling():
                    raise
                raise SessionError("Interrupted.") from None
            finally:
                self._turn = None
                if not self._inbox.wakes:
                    self._idle.set()

    async def _run(self) -> None:
        if await _settled(asyncio.ensure_future(self._ports.opening())):
            self._ports.publish(Noticed(text=DEFECT, tone="error"))
        self.opened.set()
        while True:
            await self._something()
            async with self._working:
                if self._inbox.wakes:  # it may have been taken back while the past was worked on
                    await self._one_turn()

    async def _something(self) -> None:
        """Until something waits that is worth a turn. Has no limit of its own: here we idle."""
        while not self._inbox.wakes:
            if not self._working.locked():
                self._idle.set()
            await self._inbox.news()
        self._idle.clear()

    async def _one_turn(self) -> None:
        self._untold, self._took = True, False
        turn = asyncio.create_task(self._begin())
        self._turn = turn
        crashed = False
        try:
            crashed = await _settled(turn)
        finally:
            self._turn = None
            if self._untold:
                self._never_began(crashed=crashed)

    async def _begin(self) -> None:
        if not await self.take_inputs():  # taken back before the task began
            self._untold = False
            return
        try:
            turn = await self._ports.ready()
        except GatewrightError as error:
            self._refuse(Stop.PROVIDER_AUTH, str(error))
            return
        self._untold = False
        await turn()

    def _never_began(self, *, crashed: bool) -> None:
        """It ended while files were attached or a model was opened, or before it could do that."""
        if not self._took:
            waiting = self._inbox.take()
            for item in waiting:
                self._publish_input(item)
            self._tell_queue()
            if not waiting:
                return
        if crashed:
            self._refuse(Stop.MODEL_ERROR, DEFECT)
        else:
            self._refuse(Stop.ABORTED_STREAMING, "Interrupted.")

    def _refuse(self, stop: Stop, message: str) -> None:
        self._untold = False
        self._ports.publish(TurnStarted())
        self._ports.publish(TurnEnded(stop=stop, message=message))

    def _tell_queue(self) -> None:
        if changed := self._inbox.changed():
            self._ports.publish(changed)


async def _settled(task: asyncio.Future[None]) -> bool:
    """Wait for the end of a task of ours, ending it if we are ended; whether it had a defect."""
    try:
        await asyncio.wait([task])
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=CLOSE_LIMIT)
    if task.cancelled() or (defect := task.exception()) is None:
        return False
    log.error("the turn crashed", exc_info=defect)
    return True
