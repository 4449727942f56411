"""Fires one event: who hears of it, all of them side by side, each told how it went.

Who fires waits for every handler but those in the background; the first refusal is final and stops
the rest. Nothing is left running when the session ends.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from gatewright.agent.hooks.answered.answers import first_line, understood
from gatewright.agent.hooks.answered.merging import Ran
from gatewright.agent.hooks.answered.words import harmless, labelled
from gatewright.agent.hooks.configured.book import Book
from gatewright.agent.hooks.events import EVENTS, Kind
from gatewright.agent.hooks.handlers import Handler
from gatewright.agent.hooks.kinds.running import Firing, Output, Run
from gatewright.agent.record.events import AnyEvent, HookAnswered, HookRan, HookStarted, Noticed
from gatewright.tools.access import Access
from gatewright.tools.protocol import ToolCall

AT_ONCE = 16
BEHIND = 64  # handlers in the background
SHOWN = 10_000  # characters of each stream, for who watches
NOTED = 2_000  # characters for who judges calls
TIMED = 200  # runs of which the times are kept
LIMIT = 1.0  # seconds beyond a handler's own limit
WAKES = 2  # the exit of an asyncRewake handler that wakes the session
WOKEN = 8  # times in a row, until the person says something
ASLEEP = f"A hook woke the session {WOKEN} times in a row; what it says now waits for you."

# Whether the call is one that the rule of `if` is about; whenever that is not known, it is.
Applies: TypeAlias = Callable[[str, ToolCall, Access], bool]


class Tally(msgspec.Struct):
    """What is known of a handler's runs in this session."""

    runs: int = 0
    failures: int = 0
    times: deque[int] = msgspec.field(default_factory=lambda: deque[int](maxlen=TIMED))
    last: Ran | None = None

    def p95(self) -> int:
        ordered = sorted(self.times)
        return ordered[max(0, -(-len(ordered) * 95 // 100) - 1)] if ordered else 0


class EnginePorts(msgspec.Struct, frozen=True, kw_only=True):
    """`kinds` runs each kind; `tell` gives a model what came later, and may wake its agent."""

    kinds: Mapping[Kind, Run]
    applies: Applies
    publish: Callable[[AnyEvent, str], object]
    tell: Callable[[str, str, bool], object]  # text, agent, whether it wakes
    ready: Callable[[], Awaitable[None]]  # before the first run of an event
    judging: Callable[[str], bool] = lambda _: False  # whether that agent is one of a hook


class Engine:
    """Owns every run, and what is known of each handler."""

    def __init__(self, ports: EnginePorts, book: Book | None = None) -> None:
        self._ports = ports
        self.book = book or Book()
        self.tallies: dict[tuple[object, ...], Tally] = {}
        self.off: set[tuple[object, ...]] = set()  # switched off for this session
        self._spent: set[tuple[object, ...]] = set()  # of skills, that run once and did
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._numbers = itertools.count(1)
        self._behind: set[asyncio.Task[None]] = set()
        self._woken = 0

    @property
    def kinds(self) -> frozenset[Kind]:
        """What runs here."""
        return frozenset(self._ports.kinds)

    def hears(self, event: str) -> bool:
        return event in self.book.by_event

    def wanted(self, firing: Firing) -> tuple[Handler, ...]:
        """Who is to hear of it."""
        found = self.book.matching(firing.event, firing.value)
        return tuple(
            each
            for each in found
            if (each.place.origin == "managed" or each.key not in self.off)
            and each.agent in ("", firing.agent)
            and each.key not in self._spent
            and not (each.kind == "agent" and self._ports.judging(firing.agent))
            and not (each.kind == "mcp_tool" and firing.lone)  # whose call would be the next one
            and self._applies(each, firing)
        )

    def _applies(self, handler: Handler, firing: Firing) -> bool:
        condition = handler.said.condition
        if not condition or firing.call is None or firing.access is None:
            return True
        return self._ports.applies(condition, firing.call, firing.access)

    async def fire(self, firing: Firing, *, within: float | None = None) -> tuple[Ran, ...]:
        """Those that were waited for, in the order of their sources, `within` seconds in all."""
        handlers = self.wanted(firing)
        if not handlers:
            return ()
        once = (each for each in handlers if each.said.once and each.place.origin == "skill")
        self._spent.update(each.key for each in once)
        await self._ports.ready()
        for each in handlers:
            if not each.waits:
                self._begin_behind(each, firing)
        waited = [each for each in handlers if each.waits]
        return await self._all(waited, firing, within)

    async def tried(self, handler: Handler, firing: Firing) -> Ran:
        """Run this one, whoever else there is."""
        return await self._in_turn(handler, firing)

    def spoken(self) -> None:
        """The person said something: whoever wakes the session may do so again."""
        self._woken = 0

    async def close(self) -> None:
        """End what runs in the background."""
        for task in self._behind:
            task.cancel()
        if self._behind:
            await asyncio.wait(self._behind, timeout=LIMIT)

    async def _all(
        self, handlers: Sequence[Handler], firing: Firing, within: float | None
    ) -> tuple[Ran, ...]:
        tasks = [asyncio.ensure_future(self._in_turn(each, firing)) for each in handlers]
        pending: set[asyncio.Future[Ran]] = set(tasks)
        until = None if within is None else time.monotonic() + within
        try:
            while pending:
                left = None if until is None else max(0.0, until - time.monotonic())
                done, pending = await asyncio.wait(
                    pending, timeout=left, return_when=asyncio.FIRST_COMPLETED
                )
                if not done or any(task.result().refuses for task in done):
                    break
        finally:
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending, timeout=LIMIT)
        return tuple(task.result() for task in tasks if task.done() and not task.cancelled())

    async def _in_turn(self, handler: Handler, firing: Firing) -> Ran:
        if handler.kind in ("agent", "mcp_tool"):  # who hears of its own calls needs a place, too
            return await self._ran(handler, firing)
        async with self._slots:
            return await self._ran(handler, firing)

    async def _ran(self, handler: Handler, firing: Firing) -> Ran:
        """One run, from its beginning to what is told of it."""
        id = f"hook-{next(self._numbers)}"
        began = HookStarted(
            id=id,
            hook_event=handler.event,
            command=handler.name,
            status=harmless(handler.said.status_message),
            call_id=firing.call_id,
            waits=handler.waits,
        )
        self._publish(began, firing)
        try:
            output = await self._output(handler, firing)
        except asyncio.CancelledError:
            gone = Ran(handler=handler, output=GONE, answer=understood(GONE, handler))
            self._told(id, gone, firing)
            raise
        ran = Ran(handler=handler, output=output, answer=understood(output, handler))
        self._told(id, ran, firing)
        return ran

    async def _output(self, handler: Handler, firing: Firing) -> Output:
        if handler.broken:
            return Output(failure=handler.broken)
        run = self._ports.kinds.get(handler.kind)
        if run is None:
            return Output(failure=f"hooks of the kind {handler.kind} do not run here yet")
        began = time.monotonic()
        try:
            async with asyncio.timeout(handler.timeout + LIMIT):
                output = await run(handler, firing)
        except TimeoutError:
            output = Output(failure=f"timed out after {handler.timeout:g} s")
        return msgspec.structs.replace(output, ms=round((time.monotonic() - began) * 1000))

    def _told(self, id: str, ran: Ran, firing: Firing) -> None:
        handler, output = ran.handler, ran.output
        tally = self.tallies.setdefault(handler.key, Tally())
        tally.runs += 1
        tally.failures += ran.failed and not output.cancelled
        tally.times.append(output.ms)
        tally.last = ran
        outcome = "cancelled" if output.cancelled else "error" if ran.failed else "success"
        if output.stdout or output.stderr or ran.answer.terminal:
            printed = HookAnswered(
                id=id,
                stdout=output.stdout[:SHOWN],
                stderr=output.stderr[:SHOWN],
                terminal=ran.answer.terminal,
            )
            self._publish(printed, firing)
        event = HookRan(
            hook_event=handler.event,
            command=handler.name,
            outcome=outcome,
            message=_said(ran),
            id=id,
            source=handler.place.text(),
            kind=handler.kind,
            call_id=firing.call_id,
            exit=output.exit,
            ms=output.ms,
            blocked=ran.refuses,
            noted=str(ran.answer.parts.get("classifierContext", ""))[:NOTED],
        )
        self._publish(event, firing)

    def _publish(self, event: AnyEvent, firing: Firing) -> None:
        self._ports.publish(event, firing.agent)

    def _begin_behind(self, handler: Handler, firing: Firing) -> None:
        if len(self._behind) >= BEHIND:
            output = Output(failure=f"{BEHIND} hooks run in the background already")
            ran = Ran(handler=handler, output=output, answer=understood(output, handler))
            self._told(f"hook-{next(self._numbers)}", ran, firing)
            return
        task = asyncio.create_task(self._ran_behind(handler, firing), name="hook behind")
        self._behind.add(task)
        task.add_done_callback(self._behind.discard)

    async def _ran_behind(self, handler: Handler, firing: Firing) -> None:
        """It decides nothing; what it says enters the next turn, or wakes the session."""
        ran = await self._ran(handler, firing)
        wakes = handler.said.async_rewake and ran.output.exit == WAKES
        reason = ran.answer.reason if wakes else ""
        if wakes:
            self._woken += 1
            wakes = self._woken <= WOKEN
            if self._woken == WOKEN + 1:
                self._publish(Noticed(text=ASLEEP), firing)
        self.pass_on(ran, firing.agent, reason, ran.answer.context, ran.answer.notice, wakes=wakes)

    def pass_on(self, ran: Ran, agent: str, *said: str, wakes: bool = False) -> None:
        """To the model of that agent, with its next turn."""
        if text := "\n".join(filter(None, said)):
            self._ports.tell(labelled(ran.handler, text), agent, wakes)


GONE = Output(failure="was ended before it answered", cancelled=True)


def _said(ran: Ran) -> str:
    """The one line that a person reads of it; nothing where all is well."""
    answer, name = ran.answer, ran.handler.name
    if ran.output.cancelled:
        return ""
    if ran.failed:
        words = first_line(ran.output.stderr)
        more = f": {words}" if words and words not in answer.failure else ""
        return harmless(f"{name} failed: {answer.failure}{more}")
    if answer.blocks and ran.handler.event == "UserPromptSubmit":
        return harmless(f"{name} refused it")  # why is said with the input
    if answer.blocks and EVENTS[ran.handler.event].block != "nothing":
        return harmless(f"{name}: {first_line(answer.reason)}")
    if answer.word == "deny":
        return harmless(f"{name} refused it. {first_line(answer.reason)}")
    notes = "; ".join(answer.notes)
    return harmless(f"{name}: left out: {notes}") if notes else ""
