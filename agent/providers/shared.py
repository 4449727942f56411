"""One provider for all agents of a session that ask the same server with the same key.

It is closed when the last has left it. How many requests run at once is counted for server and
key, whatever else differs between those who ask.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TypeAlias

import msgspec

from gatewright.agent.errors import GatewrightError, ProviderError
from gatewright.agent.providers.limiter import AT_ONCE, Limiter, unknown
from gatewright.agent.providers.presets import Endpoint
from gatewright.agent.providers.protocol import Piece, Provider, Request, Warming


class Identity(msgspec.Struct, frozen=True):
    """Equal for two that would send the same key to the same server in the same way."""

    server: Endpoint
    keys: tuple[str, ...] = ()

    @property
    def counted(self) -> tuple[str, ...]:
        """The same for all whose requests a server counts together."""
        server = self.server
        return server.name, server.base_url, server.api_key_helper, *self.keys

    @property
    def most(self) -> int:
        return self.server.settings.max_concurrent or AT_ONCE


# The provider for who asks this server with this key: one that is open, or one that is made now.
Sharing: TypeAlias = Callable[[Identity, Callable[[], Provider]], Provider]


def identity(server: Endpoint, env: Mapping[str, str]) -> Identity:
    """Who asks that server with the key that is found now."""
    keys = env.get(server.token_env, ""), env.get(server.api_key_env, "")
    if any(keys) or server.api_key_helper:
        return Identity(server, keys)
    from gatewright.agent.providers.keys.stored_keys import key_store  # noqa: PLC0415  lazy: 3 ms

    try:
        return Identity(server, (key_store(env).find(server.name),))
    except GatewrightError:  # who needs the key says so when it is opened
        return Identity(server)


def alone(identity: Identity, make: Callable[[], Provider]) -> Provider:
    """For who asks one question and closes it."""
    del identity
    return make()


class _Shared:
    def __init__(self, identity: Identity, provider: Provider, limiter: Limiter) -> None:
        self.identity = identity
        self.provider = provider
        self.limiter = limiter
        self.users = 0


class SharedProviders:
    """Models are opened in threads. `rank` is as for a limiter."""

    def __init__(self, rank: Callable[[str], int] = unknown) -> None:
        self._rank = rank
        self._lock = threading.Lock()
        self._open: list[_Shared] = []
        self._limiters: dict[tuple[str, ...], Limiter] = {}  # as many as there are keys

    def of(self, identity: Identity, make: Callable[[], Provider]) -> Provider:
        with self._lock:
            found = next((each for each in self._open if each.identity == identity), None)
            if found is None:
                found = _Shared(identity, make(), self._limiter(identity))
                self._open.append(found)
            found.users += 1
        return _Lent(found, self._left)

    def _limiter(self, identity: Identity) -> Limiter:
        limiter = self._limiters.get(identity.counted)
        if limiter is None:
            limiter = self._limiters[identity.counted] = Limiter(identity.most, rank=self._rank)
        limiter.allow(identity.most)
        return limiter

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
        place = self._shared.limiter.place(request.agent, request.model)
        async with aclosing(place.turn()) as waiting:
            async for queued in waiting:
                yield queued
        failure: ProviderError | None = None
        try:
            async with aclosing(self._shared.provider.stream(request)) as pieces:
                async for piece in pieces:
                    yield piece
        except ProviderError as error:
            failure = error
            raise
        finally:
            place.left(failure)

    async def warm(self) -> None:
        if isinstance(provider := self._shared.provider, Warming):
            await provider.warm()

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._left(self._shared):
                await self._shared.provider.close()
