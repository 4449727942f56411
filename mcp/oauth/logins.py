"""The login at one server, as all processes share it: read, renewed once for all, forgotten.

Whoever renews it holds a lock and reads again under it first, so a token that is good for one
renewal is spent once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.oauth.grant import Grant, Keeper
from gatewright.tools.system import private
from gatewright.tools.system.locks import let_go, taken

PATIENCE = 45.0  # longer than a renewal may take
PAUSE = 0.05
AGAIN = 30.0  # seconds after a renewal that failed


class Login:
    """`folder` holds the lock; `clock` is the time of day; `told` hears of every secret of it."""

    def __init__(
        self,
        name: str,
        keeper: Keeper,
        folder: Path,
        *,
        clock: Callable[[], float] = time.time,
        told: Callable[[Sequence[str]], None] = lambda _: None,
    ) -> None:
        self._name, self._keeper = name, keeper
        self._told = told
        self._lock = folder / f".{name.rpartition(' ')[2]}.login.lock"
        self._clock = clock
        self._here = asyncio.Lock()
        self._now: Grant | None = None
        self._read = False
        self._pause = (0.0, "")  # until when nobody is asked to renew it, and why

    async def kept(self) -> Grant | None:
        """As it is kept at this moment. What cannot be read is no login."""
        text = await asyncio.to_thread(self._keeper.find, self._name)
        try:
            self._now = msgspec.json.decode(text, type=Grant) if text else None
        except msgspec.MsgspecError:
            self._now = None
        self._read = True
        if self._now is not None:
            self._told(self._now.secrets())
        return self._now

    async def keep(self, grant: Grant) -> None:
        self._told(grant.secrets())
        text = msgspec.json.encode(grant).decode()
        await asyncio.to_thread(self._keeper.put, self._name, text)
        self._now, self._read = grant, True

    async def forget(self) -> bool:
        self._now, self._read = None, True
        return await asyncio.to_thread(self._keeper.drop, self._name)

    async def token(self) -> str:
        """To be sent now; empty without a login. Raises LoginFailed."""
        grant = self._now if self._read else await self.kept()
        if grant is None or not grant.access:
            return ""
        if not grant.soon_over(self._clock()) or not grant.refresh:
            return grant.access
        try:
            renewed = await self._renewed(grant.access)
        except LoginFailed:
            if grant.over(self._clock()):
                raise
            return grant.access
        return renewed.access if renewed is not None else ""

    async def other_than(self, refused: str, *, renew: bool = True) -> str:
        """Another token than the one that was refused; empty where there is none.

        Raises LoginFailed.
        """
        kept = await self.kept()
        if kept is None or not kept.access:
            return ""
        if kept.access != refused:
            return kept.access
        grant = await self._renewed(refused) if renew and kept.refresh else None
        return grant.access if grant is not None else ""

    async def _renewed(self, used: str) -> Grant | None:
        """After a renewal, by us or by whoever was first; None where the login is over."""
        async with self._here, self._alone():
            before = await self.kept()
            if before is None or not before.refresh:
                return before
            if before.access != used:
                return before
            until, why = self._pause
            if self._clock() < until:
                raise LoginFailed(why, later=True)
            after = await self._asked(before)
            if after is None:
                return await self._ended(before)
            await self.keep(after)
            return after

    async def _asked(self, before: Grant) -> Grant | None:
        """Whoever hands it out, and after a failure nobody for a while."""
        from gatewright.mcp.oauth.renewal import renewed  # noqa: PLC0415  lazy: 54 ms

        try:
            return await renewed(before, self._clock())
        except LoginFailed as failed:
            self._pause = (self._clock() + AGAIN, str(failed))
            raise

    async def _ended(self, before: Grant) -> Grant | None:
        """It is not renewed any more, unless somebody logged in meanwhile."""
        now = await self.kept()
        if now is not None and now.refresh != before.refresh:
            return now
        await self.keep(before.without_tokens())
        return None

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[None]:
        """Of all processes. It dies with its process."""
        end = time.monotonic() + PATIENCE
        private.folder(self._lock.parent)
        while (held := taken(self._lock)) is None:
            if time.monotonic() > end:
                raise LoginFailed("another process does not finish renewing the login", later=True)
            await asyncio.sleep(PAUSE)
        try:
            yield
        finally:
            let_go(self._lock, held)
