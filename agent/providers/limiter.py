"""How many requests one server answers for one key at a time, and who of those that wait is next.

The main agent comes first, then agents take turns. Fewer run while the server says that there are
too many; where it says how long nothing shall come, nothing is sent by anybody.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from bisect import insort
from collections.abc import AsyncGenerator, Callable
from typing import TypeAlias

from gatewright.agent.errors import FailureKind, ModelLoading, ProviderError
from gatewright.agent.providers.protocol import Queued
from gatewright.tools.access import MAIN

AT_ONCE = 16
CALM = 10.0  # seconds of success after which one more may run
SOON = 1.0  # seconds before one that waits says so for the first time
STILL_THERE = 5.0  # seconds between two signs of life of one that waits
# Seconds of a pause whose length the server leaves to us. Too much work is mostly over at once, too
# many requests are not: five overloads in a row take about 6 seconds.
FIRST = {FailureKind.RATE: 1.0, FailureKind.OVERLOADED: 0.2}
LONGEST = 32.0
RESETS = 600.0  # a server that wants no requests for longer is not waited for
SPREAD = 0.1  # of what a server asks for: others that share its key come back too
REMEMBERED = 1000  # agents
TOO_MANY = frozenset({FailureKind.RATE, FailureKind.OVERLOADED})
ALL = ""  # a pause of every model


Order: TypeAlias = tuple[bool, int, int, int]


def unknown(agent: str) -> int:
    del agent
    return 0


class Place:
    """Where one request stands among those that wait; the lower its order, the sooner it runs."""

    def __init__(self, limiter: Limiter, agent: str, model: str, order: Order) -> None:
        self._limiter = limiter
        self.agent, self.model, self.order = agent, model, order
        self.runs_in = -1  # the era of the limiter in which it began
        self.ready: asyncio.Future[None] | None = None

    async def turn(self) -> AsyncGenerator[Queued]:
        """Exhausted when it is its turn, which `left` ends."""
        ready = self._limiter.enter(self)
        if ready is None:
            return
        seconds = SOON
        try:
            while not ready.done():
                await asyncio.wait((ready,), timeout=seconds)
                if not ready.done():
                    yield self._limiter.queued(self)
                    seconds = STILL_THERE
        except BaseException:  # whoever waited for it does not any more
            self._limiter.gave_up(self)
            raise

    def left(self, failure: ProviderError | None) -> None:
        """It has run: to its end, or into this."""
        self._limiter.left(self, failure)


class Limiter:
    """`rank` says which agent began first: of two whose turn it is, that one comes first."""

    def __init__(
        self,
        most: int = AT_ONCE,
        *,
        rank: Callable[[str], int] = unknown,
        clock: Callable[[], float] = time.monotonic,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._rank, self._clock, self._dice = rank, clock, dice
        self._most = self._room = most
        self._changed = clock()
        self._running = 0
        self._waiting: list[Place] = []
        self._kept: dict[str, Order] = {}  # of requests that were refused, by agent
        self._round = 0  # of the request that began last
        self._rounds: dict[str, int] = {}  # the next one of each agent
        self._tickets = itertools.count()
        self._era = 0  # grows when fewer may run: what began before says nothing new
        self._refused = 0  # eras without a success in between
        self._paused: dict[str, float] = {}  # until when, by model
        self._timer: asyncio.TimerHandle | None = None

    def allow(self, most: int) -> None:
        """So many at once from now on."""
        self._room = most if self._room == self._most else min(self._room, most)
        self._most = most

    def place(self, agent: str, model: str) -> Place:
        """For a request; one that was refused before goes back to where it stood."""
        order = self._kept.pop(agent, None)
        if order is None:
            turn = max(self._round, self._rounds.get(agent, 0))
            self._rounds[agent] = turn + 1
            if len(self._rounds) > REMEMBERED:
                self._rounds = {who: its for who, its in self._rounds.items() if its > self._round}
            order = (agent != MAIN, turn, self._rank(agent), next(self._tickets))
        return Place(self, agent, model, order)

    def enter(self, place: Place) -> asyncio.Future[None] | None:
        """What is done once it is its turn; None: it is at once."""
        place.ready = asyncio.get_running_loop().create_future()
        insort(self._waiting, place, key=lambda one: one.order)
        self.look()
        return None if place.ready.done() else place.ready

    def queued(self, place: Place) -> Queued:
        return Queued(self._pause(place.model), self._waiting.index(place))

    def gave_up(self, place: Place) -> None:
        if place in self._waiting:
            self._waiting.remove(place)
        else:
            self._running -= 1
        self.look()

    def left(self, place: Place, failure: ProviderError | None) -> None:
        self._running -= 1
        if failure is None:
            self._succeeded()
        elif failure.kind in TOO_MANY and not isinstance(failure, ModelLoading):
            self._too_many(place, failure)
        self.look()

    def _succeeded(self) -> None:
        now = self._clock()
        self._refused = 0
        if self._room < self._most and now - self._changed >= CALM:
            self._room, self._changed = self._room + 1, now

    def _too_many(self, place: Place, failure: ProviderError) -> None:
        """Fewer from now on, and none for a while; the refused one keeps its place meanwhile."""
        now, asked = self._clock(), failure.retry_after or 0.0
        news = place.runs_in == self._era
        if news:
            self._room, self._changed = max(1, self._room // 2), now
            self._era, self._refused = self._era + 1, self._refused + 1
        if asked > RESETS:
            return
        which = place.model if failure.kind is FailureKind.OVERLOADED and not asked else ALL
        until = self._paused.get(which, 0.0)
        if asked:
            until = max(until, now + asked * (1.0 + SPREAD * self._dice()))
        elif news or until <= now:
            step = min(LONGEST, FIRST[failure.kind] * 2.0 ** (max(self._refused, 1) - 1))
            until = max(until, now + step * (0.75 + 0.5 * self._dice()))
        self._paused = {**{m: t for m, t in self._paused.items() if t > now}, which: until}
        failure.waits = until - now
        self._kept[place.agent] = place.order
        if len(self._kept) > REMEMBERED:
            del self._kept[next(iter(self._kept))]

    def _pause(self, model: str) -> float:
        """Seconds for which nothing is to be sent to that model."""
        until = max(self._paused.get(ALL, 0.0), self._paused.get(model, 0.0))
        return max(0.0, until - self._clock())

    def look(self) -> None:
        """Let begin what may run now, and look again when a pause is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pauses: list[float] = []
        for place in tuple(self._waiting):
            if self._running >= self._room:
                return
            if (pause := self._pause(place.model)) > 0.0:
                pauses.append(pause)
                continue
            self._waiting.remove(place)
            self._running += 1
            place.runs_in, self._round = self._era, max(self._round, place.order[1])
            if place.ready is not None:
                place.ready.set_result(None)
        if pauses:
            self._timer = asyncio.get_running_loop().call_later(min(pauses), self.look)
