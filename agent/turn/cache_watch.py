"""Names the cause when a provider's prompt cache did not serve what it should have.

A request that repeats the one before it as a prefix is expected to be read from the cache.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gatewright.agent.providers.protocol import Request
from gatewright.agent.record.messages import Turn, Usage

KEPT_SECONDS = 300.0  # how long providers keep a prefix that nobody asks for
WORTH_A_WORD = 4096  # tokens; below this a miss costs next to nothing
SERVED = 0.5  # the share of the expected prefix that counts as a hit


class _Last(msgspec.Struct, frozen=True):
    request: Request
    usage: Usage
    at: float


class CacheWatch:
    """Remembers the last request of one conversation."""

    def __init__(self) -> None:
        self._last: _Last | None = None

    def saw(self, request: Request, usage: Usage, now: float) -> str:
        """A sentence about a costly miss, or an empty string."""
        last, self._last = self._last, _Last(request, usage, now)
        if last is None or not (last.usage.cache_read or last.usage.cache_write):
            return ""  # this provider does not cache, or does not say so
        expected = last.usage.cache_read + last.usage.cache_write
        if expected < WORTH_A_WORD or usage.cache_read >= expected * SERVED:
            return ""
        missed = expected - usage.cache_read
        cause = _cause(last, request, now)
        return f"{missed:,} tokens were not served from the prompt cache: {cause}."


def _cause(last: _Last, request: Request, now: float) -> str:
    before = last.request
    if before.model != request.model:
        return "another model was asked"
    if before.tools != request.tools:
        return "the tools changed"
    if before.system != request.system:
        return "the system prompt changed"
    if not _extends(request.turns, before.turns):
        return "the history was shortened or cleared"
    if now - last.at > KEPT_SECONDS:
        return f"the last request was {(now - last.at) / 60:.0f} minutes ago"
    return "the provider dropped it early"


def _extends(turns: Sequence[Turn], prefix: Sequence[Turn]) -> bool:
    """By identity first: unchanged turns stay the same objects, so this is cheap."""
    if len(turns) < len(prefix):
        return False
    return all(new is old or new == old for new, old in zip(turns, prefix[:-1], strict=False))
