"""One provider for all agents of a session that ask the same server with the same key.

It is closed when the last has left it. Of the requests to it a number run at once; the others wait
their turn, and fewer run while the server says that there are too many.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TypeAlias

from gatewright.agent.errors import FailureKind, GatewrightError, ProviderError
from gatewright.agent.providers.presets import Endpoint
from gatewright.agent.providers.protocol import Alive, Piece, Provider, Request

AT_ONCE = 16
CALM = 10.0  # seconds of success after which one more may run
STILL_THERE = 5.0  # seconds between two signs of life of one that waits
# The provider for who asks this server with this key: one that is open, or one that is made now.
Sharing: TypeAlias = Callable[[object, Callable[[], Provider]], Provider]
TOO_MANY = frozenset({FailureKind.RATE, FailureKind.OVERLOADED})


def identity(server: Endpoint, env: Mapping[str, str]) -> object:
    """The same for two that would send the same key to the same server."""
    keys = env.get(server.token_env, ""), env.get(server.api_key_env, "")
    if any(keys) or server.api_key_helper:
        return server, *keys
    from gatewright.agent.providers.keys.stored_keys import key_store  # noqa: PLC0415  lazy: 3 ms

    try:
        return server, key_store(env).find(server.name)
    except GatewrightError:  # who needs the key says so when it is opened
        return server, ""


def alone(identity: object, make: Callable[[], Provider]) -> Provider:
    """For who asks one question and closes it."""
    del identity
    return make()


class Limiter:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._room = AT_ONCE
        self._changed = clock()
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def turn(self) -> AsyncGenerator[Alive]:
        """Exhausted when it is its turn, which `left` ends: who came first is first."""
        if self._running < self._room:
            self._running += 1
            return
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(ready)
        try:
            while not ready.done():
                await asyncio.wait((ready,), timeout=STILL_THERE)
                if not ready.done():
                    yield Alive()
        except BaseException:  # whoever waited for it does not any more
            if ready.done():
                self._release()
            else:
                self._waiting.remove(ready)
            raise

    def left(self, failure: FailureKind | None) -> None:
        now = self._clock()
        if failure in TOO_MANY:
            self._room, self._changed = max(1, self._room // 2), now
        elif failure is None and self._room < AT_ONCE and now - self._changed >= CALM:
            self._room, self._changed = self._room + 1, now
        self._release()

    def _release(self) -> None:
        self._running -= 1
        while self._waiting and self._running < self._room:
            self._running += 1
            self._waiting.popleft().set_result(None)


class _Shared:
    def __init__(self, identity: object, provider: Provider) -> None:
        self.identity = identity
        self.provider = provider
        self.limiter = Limiter()
        self.users = 0


class SharedProviders:
    """Models are opened in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[_Shared] = []

    def of(self, identity: object, make: Callable[[], Provider]) -> Provider:
        with self._lock:
            found = next((each for each in self._open if each.identity == identity), None)
            if found is None:
                found = _Shared(identity, make())
                self._open.append(found)
            found.users += 1
        return _Lent(found, self._left)

    def _left(self, shared: _Shared) -> bool:
        """Whether that was the last."""
        with self._lock:
            shared.users -= 1
            if shared.users or shared not in self._open:
                return False
            self._open.remove(shared)
        return True

    async def close(self) -> None:
        """With those whose opening nobody waited for to the end, as a thread cannot be stopped."""
        with self._lock:
            left, self._open = self._open, []
        for each in left:
            await each.provider.close()


class _Lent:
    def __init__(self, shared: _Shared, left: Callable[[_Shared], bool]) -> None:
        self._shared = shared
        self._left = left
        self._closed = False

    @property
    def name(self) -> str:
        return self._shared.provider.name

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        limiter = self._shared.limiter
        async with aclosing(limiter.turn()) as waiting:
            async for alive in waiting:
                yield alive
        failure: FailureKind | None = None
        try:
            async with aclosing(self._shared.provider.stream(request)) as pieces:
                async for piece in pieces:
                    yield piece
        except ProviderError as error:
            failure = error.kind
            raise
        finally:
            limiter.left(failure)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._left(self._shared):
                await self._shared.provider.close()
