"""One server over the life of a session: known, started when it is needed, lost, started again.

It is connected by one task, whoever waits for it; everything it offers is plain data.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import msgspec

from gatewright.mcp.calling import UNKNOWN, Limits, called
from gatewright.mcp.definitions import Definition
from gatewright.mcp.described import Described, Listing
from gatewright.mcp.errors import Lost, NotConnected, Refused, WantsLogin
from gatewright.mcp.oauth.wanted import WantedLogin
from gatewright.mcp.offer import Offer
from gatewright.mcp.offered.listed import Resources
from gatewright.mcp.offered.relisting import Relisting
from gatewright.mcp.ports import Ports
from gatewright.mcp.returning import Returning
from gatewright.mcp.serverlog import ServerLog
from gatewright.tools.protocol import ToolContext, ToolFailure, ToolResult, ToolSpec

if TYPE_CHECKING:
    from gatewright.mcp.talk.asking import Asking
    from gatewright.mcp.talk.connection import Hears
    from gatewright.mcp.talk.opening import Open

T = TypeVar("T")
State: TypeAlias = Literal[
    "disabled", "unapproved", "idle", "pending", "connected", "needs-auth", "failed"
]
TRIES, PAUSE = 3, 1.0
STARTS, WITHIN = 4, 600.0  # the first one and three more, in ten minutes
SILENT_STDIO, SILENT_REMOTE = 30 * 60.0, 5 * 60.0  # without a word of a call
LONGEST_ALONE = 30 * 60.0  # where no person looks on


class Server:
    def __init__(self, definition: Definition, ports: Ports, *, state: State = "idle") -> None:
        self.definition = definition
        self.name = definition.name
        self._ports = ports
        self._offer = Offer(definition, ports.known)
        self.hello = self._offer.hello
        self.state: State = state
        self.error = ""
        self.resources: Resources | None = None  # as they were last listed, and no change heard of
        self.log = ServerLog(ports.logs / f"{self.name}.log")
        self._open: Open | None = None
        self._connecting: asyncio.Task[Open] | None = None
        self._starts: deque[float] = deque(maxlen=STARTS)
        self._relisting = Relisting(self._list_again)
        self._closed = False
        self._told: str = ""  # the last cause that the person was told
        self.wants = WantedLogin()
        self._returning = Returning(self.ready)

    # what there is

    @property
    def usable(self) -> bool:
        return self.state not in ("disabled", "unapproved")

    @property
    def is_known(self) -> bool:
        """Its tools are known, running or not."""
        return bool(self.hello.era)

    @property
    def cap(self) -> int:
        """Characters of a result that a model reads."""
        return self._ports.cap()

    @property
    def background_after(self) -> float:
        """Seconds after which a call goes on by itself; 0 for never."""
        return 0.0 if self._ports.alone else self._ports.background()

    def asks_person(self) -> bool:
        return self._open is not None and self._open.connection.answering.asks

    @property
    def pid(self) -> int:
        return self._open.ended.pid if self._open is not None else 0

    @property
    def listing(self) -> Listing:
        return self._offer.listing

    def tools(self) -> dict[str, Described]:
        """By the name for a model."""
        return self._offer.tools() if self.usable else {}

    def specs(self) -> Sequence[ToolSpec]:
        return self._offer.specs if self.usable else ()

    def size(self) -> int:
        """Characters that its tools would take in a request."""
        return self._offer.size if self.usable else 0

    def accepted(self, tool: Described) -> Described | None:
        """The tool as it was accepted; None for one that nobody has accepted."""
        return self._offer.accepted(tool)

    def accept(self) -> None:
        """All of its tools as they are now."""
        self._offer.accept()

    # being connected

    async def ready(self) -> Open:
        """Connected from now on, and listed. Raises NotConnected."""
        if self._connecting is None or self._connecting.done():
            if self._open is not None and self._open.connection.alive:
                return self._open
            await self.wants.pause()
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.create_task(self._connect(), name=f"MCP {self.name}")
        connecting = self._connecting
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            if not connecting.cancelled():
                raise
            raise NotConnected(f"it is {self.state}") from None  # switched off meanwhile

    async def settle(self, seconds: float) -> None:
        """Wait until it is connected or has failed, so long at most."""
        with contextlib.suppress(TimeoutError, NotConnected):
            await asyncio.wait_for(self.ready(), seconds)

    async def reconnect(self) -> None:
        """Anew, whatever is known or was tried. Raises NotConnected."""
        await self._returning.stop()
        await self._drop()
        self._starts.clear()
        self.wants.clear()
        self._ports.known.forget(self.definition.signature)
        await self.ready()

    async def close(self) -> None:
        self._closed = True
        await self._stop()

    async def turn(self, state: State) -> None:
        """Switch it off or on, or take up an approval."""
        self.state, self.error = state, ""
        if not self.usable:
            await self._stop()

    async def _stop(self) -> None:
        """Whatever it is doing, connecting included."""
        await self._returning.stop()
        if (task := self._connecting) is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])
        await self._relisting.stop()
        await self._drop()

    async def _drop(self) -> None:
        open, self._open = self._open, None
        if open is not None:
            await open.connection.close()
            if self.state == "connected":
                self.state = "idle"

    async def _connect(self) -> Open:
        if self._closed or not self.usable:
            raise NotConnected("it is gone" if self._closed else f"it is {self.state}")
        self._become("pending")
        slots = self._ports.remote if self.definition.remote else self._ports.stdio
        try:
            async with slots:
                self._count_start()
                open = await self._tried()
        except NotConnected as error:
            self._failed(error)
            raise
        except asyncio.CancelledError:
            self._become("idle")
            raise
        self._open = open
        self.hello = open.hello
        if open.missing:
            names = ", ".join(open.missing)
            self._ports.told(f"MCP server {self.name}: there is no variable {names}.")
        try:
            await self._list(open)
        except (Lost, Refused, TimeoutError) as error:
            if not self.listing.tools or open.refusal.status:
                await self._drop()
                self._failed(failed := open.not_listed(error))
                raise failed from error
        self._told = ""
        self.wants.clear()
        self._returning.connected()
        self._become("connected")
        return open

    def _failed(self, error: NotConnected) -> None:
        self.wants.heard(error.login)
        if error.login is not None:
            self._become("needs-auth", str(error))
        elif self._returning.goes_on and self.usable:
            self.state, self.error = "pending", str(error)  # told once it is not tried any more
        else:
            self._become("failed", str(error))

    def _count_start(self) -> None:
        now, program = time.monotonic(), not self.definition.remote
        if program and len(self._starts) == STARTS and now - self._starts[0] < WITHIN:
            raise NotConnected(f"it was started {STARTS} times in ten minutes: see {self.log.path}")
        self._starts.append(now)

    async def _tried(self) -> Open:
        opened, hears = await asyncio.to_thread(load)
        told = hears(
            changed=self._heard_of_change,
            logged=lambda text: self.log.add(text.encode("utf-8", "replace")),
            roots=self._ports.roots,
            ended=self._ended,
            updated=partial(self._ports.updated, self.name),
            completed=partial(self._ports.completed, self.name),
            elicits=partial(ask, self.name) if (ask := self._ports.elicits) is not None else None,
            samples=partial(lend, self.definition) if (lend := self._ports.samples) else None,
        )
        for attempt in range(TRIES):
            self.log.begin()
            try:
                return await opened(
                    self.definition,
                    self._ports.around(),
                    self.log,
                    told,
                    era=self._offer.known.hello.era,
                    known=bool(self._offer.known.at),
                )
            except NotConnected as error:
                if not error.again or attempt == TRIES - 1 or self._returning.tries:
                    raise
                await asyncio.sleep(PAUSE * 2**attempt * random.uniform(0.8, 1.2))
        raise AssertionError

    async def _list(self, open: Open) -> None:
        listing = await open.connection.tools() if open.hello.tools else Listing()
        if open.hello.prompts:
            prompts = self.listing.prompts  # which stay where they cannot be listed now
            with contextlib.suppress(Refused, TimeoutError):
                prompts = await open.asking.prompts()
            listing = msgspec.structs.replace(listing, prompts=prompts)
        self._offer.take(open.hello, listing)
        self._ports.listed()

    def _become(self, state: State, error: str = "") -> None:
        if self.usable:  # it was not switched off meanwhile
            self.state, self.error = state, error
            self._tell(error)

    def _tell(self, error: str) -> None:
        if error and error != self._told:
            self._told = error
            hint = "/mcp says more" if not self._ports.alone else f"its log is {self.log.path}"
            if self.wants.refusal is not None:
                hint = f"agent mcp login {self.name}, or /mcp login {self.name}"
            first = error.partition("\n")[0].rstrip(":")
            self._ports.told(f"MCP server {self.name}: {first} ({hint}).")

    def _heard_of_change(self, what: str) -> None:
        if what == "resources":
            self.resources = None
        else:
            self._relisting.heard()

    async def _list_again(self) -> None:
        if self._open is not None:
            await self._list(self._open)

    def _ended(self) -> None:
        """Its connection is gone, and nobody asked for that."""
        if self._open is None or self._closed:
            return
        self._open = None
        if self.state == "connected" and self.definition.remote:
            self.state, self.error = "pending", "the connection was lost"
            self._returning.lost()
        elif self.state == "connected":
            self.state = "idle"

    async def roots_changed(self) -> None:
        if self._open is not None:
            await self._open.connection.roots_changed()

    # being used

    async def asked(self, ask: Callable[[Asking], Awaitable[T]]) -> T:
        """What changes nothing there, once more where the connection was lost.

        Raises ToolFailure.
        """
        try:
            try:
                return await ask((await self.ready()).asking)
            except Lost:
                return await ask((await self.ready()).asking)
        except (NotConnected, Lost) as error:
            raise ToolFailure(f"The server {self.name} is not connected: {error}.") from error
        except Refused as refused:
            raise ToolFailure(f"The server {self.name} refused: {refused}") from refused

    async def call(
        self, tool: Described, arguments: dict[str, object], ctx: ToolContext
    ) -> ToolResult:
        """Raises ToolFailure, whose text says what is known of the outcome."""
        try:
            try:
                return await called(await self._same(tool), tool, arguments, ctx, self._limits())
            except Lost as lost:
                if lost.sent and not tool.read_only:
                    raise
                return await called(await self._same(tool), tool, arguments, ctx, self._limits())
        except NotConnected as error:
            raise ToolFailure(f"The server {self.name} is not connected: {error}.") from error
        except Lost as lost:
            raise ToolFailure(self._outcome(lost)) from lost
        except WantsLogin as wants:
            raise ToolFailure(await self._login_wanted(wants)) from wants
        except Refused as refused:
            raise ToolFailure(f"The server {self.name} refused: {refused}") from refused

    async def _login_wanted(self, wants: WantsLogin) -> str:
        """In the middle of its life; what the model is told."""
        self.wants.heard(wants.refusal)
        if wants.refusal.wants_more:
            self._tell(str(wants))
        else:
            await self._drop()
            self._become("needs-auth", str(wants))
        return f"The server {self.name} refused: {wants}. Only the person can log in."

    async def _same(self, tool: Described) -> Open:
        """Connected, and the tool is still the one that was judged. Raises NotConnected."""
        open = await self.ready()
        now = next((each for each in self.listing.tools if each.name == tool.name), None)
        if now is None:
            raise ToolFailure(f"The server {self.name} does not offer {tool.name} any more.")
        if now.pin != tool.pin and self.definition.pinned:
            raise ToolFailure(
                f"The server {self.name} says something else of {tool.name} than when the call was "
                "judged, so it was not run. Call it again: the person will be asked."
            )
        return open

    def _limits(self) -> Limits:
        silent = SILENT_REMOTE if self.definition.remote else SILENT_STDIO
        wall = self.definition.seconds or (LONGEST_ALONE if self._ports.alone else float("inf"))
        return Limits(self.name, silent=silent, wall=wall, cap=self.cap)

    def _outcome(self, lost: Lost) -> str:
        last = self.log.last()
        text = f"The server {self.name} ended during the call: {lost}. {UNKNOWN}"
        return f"{text}\nIt last said:\n{last}" if last else text


def load() -> tuple[Callable[..., Awaitable[Open]], type[Hears]]:
    """What talks to servers; it brings the SDK along."""
    from gatewright.mcp.talk.connection import Hears  # noqa: PLC0415  lazy: 0.4 s, in a thread
    from gatewright.mcp.talk.opening import opened, quiet  # noqa: PLC0415  the same

    quiet()
    return opened, Hears
