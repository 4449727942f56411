"""Who listens at the moments of a session: nobody in most, and whoever comes later is heard too."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatewright.tools.moments import Moment, Moments, Verdict


class Listeners:
    """`now` is None where nobody listens: then nothing is asked, built or imported."""

    def __init__(self, *first: Moments | None) -> None:
        self.now: Moments | None = None
        for each in first:
            self.add(each)

    async def at(self, moment: Moment) -> Verdict:
        """For who knows that somebody listens."""
        assert self.now is not None
        return await self.now.at(moment)

    def add(self, moments: Moments | None) -> None:
        if moments is None:
            return
        if isinstance(self.now, _Everybody):
            self.now.listening.append(moments)
        else:
            self.now = moments if self.now is None else _Everybody([self.now, moments])


class _Everybody:
    """All of them, asked side by side; their answers are merged."""

    def __init__(self, listening: list[Moments]) -> None:
        self.listening = listening

    async def at(self, moment: Moment) -> Verdict:
        from gatewright.tools.moments import merged  # noqa: PLC0415  only where somebody listens

        return merged(await asyncio.gather(*(each.at(moment) for each in self.listening)))
