"""The way out of a program that serves for long: by what settings and rules say at that moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gatewright.permissions.sandbox.network.egress import Egress
from gatewright.permissions.sandbox.profile import Network


class WayOut(Egress):
    """Nobody is asked about what is not named; `now` is looked at with every connection."""

    def __init__(self, network: Network, now: Callable[[], Awaitable[Network]]) -> None:
        super().__init__(network)
        self._now = now

    async def addresses(self, name: str, port: int) -> tuple[str, ...]:
        """Where to connect, checked. Raises Refused."""
        self.network = await self._now()
        return await super().addresses(name, port)
