"""The session behind the tools that are served: opened by the first request, asked by each call.

Every call is an event of it like any call of a turn: judged, kept and undone as ever. It has no
turn of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from gatewright.agent.context.tool_sources import ToolSources
from gatewright.agent.errors import GatewrightError
from gatewright.agent.frontends.must_know import warning
from gatewright.agent.launch.cli import Opener
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Answered, Asked, Envelope, ToolProgressed
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.messages import CallPart
from gatewright.agent.session.session import Session
from gatewright.agent.subcommands.serving.put_questions import answered
from gatewright.mcp.served import Offer, ServedCall, Unserved
from gatewright.permissions.rulebook.tools_table import row
from gatewright.tools.protocol import Progress, ToolResult, ToolSpec

SIDE_BY_SIDE = 8  # calls that only read; everything else runs one by one
LOOKS = frozenset({"read", "search", "free"})  # what changes nothing of the person's
LOSES = frozenset({"edit", "shell"})  # what may
OUTSIDE = frozenset({"shell", "web", "search"})  # what may talk to somebody else
UNKNOWN = "There is no tool {} here. There are: {}."
PUT_OFF = "Not run: a hook put it off, and nobody goes on with it here."


class SessionCalls:
    """Structurally the `Calls` of `mcp/served.py`. What people must know is said to `say`."""

    def __init__(self, options: LaunchOptions, opener: Opener, say: Callable[[str], None]) -> None:
        self._options, self._opener, self._say = options, opener, say
        self._opening: asyncio.Task[Session] | None = None
        self._following: asyncio.Task[None] | None = None
        self._calls: dict[str, ServedCall] = {}  # under way, by the ids of their events
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._few = asyncio.Semaphore(SIDE_BY_SIDE)
        self._one = asyncio.Semaphore(1)

    async def offers(self, client: str, *, asks: bool) -> Sequence[Offer]:
        return _offers(await self._session(client, asks=asks))

    async def run(self, call: ServedCall) -> ToolResult:
        session = await self._session(call.client, asks=call.put is not None)
        offers = {offer.name: offer for offer in _offers(session)}
        if (offer := offers.get(call.name)) is None:
            return ToolResult.not_run(UNKNOWN.format(call.name, ", ".join(offers)))
        part = CallPart(new_id(), call.name, call.arguments)
        async with self._few if offer.read_only else self._one:
            self._calls[part.id] = call
            try:
                result = await session.run_call(part)
            finally:
                del self._calls[part.id]
        return ToolResult.not_run(PUT_OFF) if result.waits else result

    async def close(self) -> None:
        opening, self._opening = self._opening, None
        if opening is None:
            return
        with contextlib.suppress(GatewrightError):
            session = await opening
            await session.close()
            if session.unsaved:
                self._say(session.unsaved)
        if self._following is not None:
            await self._following

    async def _session(self, client: str, *, asks: bool) -> Session:
        """Opened once; whoever waits may leave. Raises Unserved, and the next one tries again."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(client, asks=asks))
        opening = self._opening
        try:
            return await asyncio.shield(opening)
        except GatewrightError as error:
            if self._opening is opening:
                self._opening = None
                self._say(str(error))
            raise Unserved(str(error)) from error

    async def _open(self, client: str, *, asks: bool) -> Session:
        session = await self._opener(self._options, interactive=asks)()
        if not self._options.name:
            session.past.rename(f"Calls of {client or 'an MCP client'}")
        self._following = asyncio.create_task(self._follow(session), name="served calls")
        await session.opened()
        return session

    async def _follow(self, session: Session) -> None:
        async for envelope in session.subscribe():
            self._saw(session, envelope)

    def _saw(self, session: Session, envelope: Envelope) -> None:
        match envelope.event:
            case Asked(id=id) as asked:
                task = asyncio.create_task(self._answer(session, asked), name="a client's answer")
                self._asked[id] = task
            case Answered(id=id):
                if (answering := self._asked.pop(id, None)) is not None:
                    answering.cancel()  # done, unless the call has ended meanwhile
            case ToolProgressed(call_id=id, tail=tail, size=size, seconds=seconds):
                if (call := self._calls.get(id)) is not None:
                    call.heard(Progress(tail, size, seconds))
            case event:
                if text := warning(event):
                    self._say(text)

    async def _answer(self, session: Session, asked: Asked) -> None:
        call = self._calls.get(asked.ask.call_id)
        session.answer(asked.id, await answered(asked.ask, call.put if call else None))


def _offers(session: Session) -> Sequence[Offer]:
    sources = session.part(ToolSources)
    return tuple(map(_offer, sources.specs())) if sources is not None else ()


def _offer(spec: ToolSpec) -> Offer:
    family = row(spec.name).family
    return Offer(
        name=spec.name,
        description=spec.description,
        schema=spec.schema,
        read_only=family in LOOKS,
        destructive=family in LOSES,
        open_world=family in OUTSIDE,
    )
