"""A login that a server wants and nobody gave yet: not tried again and again meanwhile."""

from __future__ import annotations

import time

from gatewright.mcp.errors import NotConnected
from gatewright.mcp.oauth.challenge import Refusal

PAUSE = 15 * 60.0  # seconds without a try, unless another login is kept


class WantedLogin:
    """`refusal` is None where none is wanted."""

    def __init__(self) -> None:
        self.refusal: Refusal | None = None
        self._until = 0.0

    def heard(self, refusal: Refusal | None) -> None:
        self.refusal = refusal
        stops = refusal is not None and not refusal.wants_more
        self._until = time.monotonic() + PAUSE if stops else 0.0

    def clear(self) -> None:
        self.heard(None)

    async def pause(self) -> None:
        """Raises NotConnected while a try would only fail again."""
        refusal = self.refusal
        if refusal is None or time.monotonic() >= self._until:
            return
        if not await refusal.is_over():
            raise NotConnected(refusal.sentence(), login=refusal)
        self.clear()
