"""What changes at a server: its lists, and the resources that were read, in both eras.

Of a resource one is told once, until it is read again: a server that changes it all the time
reaches nobody with that.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

import mcp_types as types
from mcp.client.session import ClientSession
from mcp.client.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    SubscriptionLost,
    listen,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from gatewright.mcp.described import Hello
from gatewright.mcp.talk.failures import FAILURES

# A stream of changes that ends is opened again: three times in ten seconds, then rarely.
OPENINGS, SHORT, PAUSE, RARELY = 3, 10.0, 1.0, 6 * 3600.0
MOST = 20  # resources of a server that are watched, those that were read last
ASKED = 15.0  # seconds a server has to agree
_LISTS: Mapping[type, str] = {PromptsListChanged: "prompts", ResourcesListChanged: "resources"}


class Told(Protocol):
    @property
    def changed(self) -> Callable[[str], object]: ...
    @property
    def updated(self) -> Callable[[str], object]: ...


class Following:
    def __init__(self, session: ClientSession, hello: Hello, told: Told) -> None:
        self._session, self._hello, self._told = session, hello, told
        self._modern = hello.era in MODERN_PROTOCOL_VERSIONS
        self._watched: dict[str, bool] = {}  # by URI: whether a change is news
        self._others = asyncio.Event()  # another resource is watched than the stream knows of
        self._began: deque[float] = deque(maxlen=OPENINGS)
        self._tasks: set[asyncio.Task[None]] = set()

    def watch(self, uri: str) -> None:
        """It was read: who read it is told when it changes. Returns at once."""
        if not self._hello.subscribes:
            return
        known = self._watched.pop(uri, None) is not None
        self._watched[uri] = True  # now the last one
        if known:
            return
        dropped = next(iter(self._watched)) if len(self._watched) > MOST else ""
        self._watched.pop(dropped, None)
        if self._modern:
            self._others.set()
        else:
            self.behind(self._subscribed(uri, dropped))

    def heard(self, uri: str) -> None:
        if self._watched.get(uri):
            self._watched[uri] = False
            self._told.updated(uri)

    async def _subscribed(self, uri: str, dropped: str) -> None:
        """In the older era; a server that refuses is not asked again for this one."""
        with suppress(*FAILURES):
            async with asyncio.timeout(ASKED):
                if dropped:
                    left = types.UnsubscribeRequest(
                        params=types.UnsubscribeRequestParams(uri=dropped)
                    )
                    await self._session.send_request(left, types.EmptyResult)
                asked = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
                await self._session.send_request(asked, types.EmptyResult)

    async def run(self) -> None:
        """The stream of the newer era, as long as the server offers one."""
        while self._modern:
            self._others.clear()
            streaming = asyncio.create_task(self._stream(), name="changes of an MCP server")
            others = asyncio.create_task(self._others.wait())
            try:
                await asyncio.wait([streaming, others], return_when=asyncio.FIRST_COMPLETED)
                if not others.done() and not streaming.result():
                    return
            finally:
                for task in (streaming, others):
                    task.cancel()
                await asyncio.gather(streaming, others, return_exceptions=True)

    async def _stream(self) -> bool:
        """Until it ends; False where there is none."""
        self._began.append(time.monotonic())
        try:
            with suppress(SubscriptionLost):
                async with listen(
                    self._session,
                    tools_list_changed=True,
                    prompts_list_changed=self._hello.prompts,
                    resources_list_changed=self._hello.resources,
                    resource_subscriptions=tuple(self._watched),
                ) as events:
                    async for event in events:
                        if isinstance(event, ResourceUpdated):
                            self.heard(event.uri)
                        else:
                            self._told.changed(_LISTS.get(type(event), "tools"))
        except FAILURES:
            return False
        often = len(self._began) == OPENINGS and time.monotonic() - self._began[0] < SHORT
        await asyncio.sleep(RARELY if often else PAUSE)
        self._told.changed("tools")  # it may have, while nobody listened
        return True

    def behind(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def following(session: ClientSession, hello: Hello, told: Told) -> AsyncGenerator[Following]:
    made = Following(session, hello, told)
    made.behind(made.run())
    try:
        yield made
    finally:
        await made.close()
