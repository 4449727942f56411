"""The facade: all that a front end ever sees of the core."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import assert_never

import msgspec

from gatewright.agent.answers import AnswerPorts
from gatewright.agent.broker import Broker
from gatewright.agent.cache_watch import CacheWatch
from gatewright.agent.commands.outcome import (
    Change,
    ClearHistory,
    Outcome,
    Say,
    SetEffort,
    SetMode,
    SetModel,
    Submit,
)
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.compact.compactor import Compactor
from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Compacted,
    ModeChanged,
    ModelChanged,
    TasksChanged,
    ToolProgressed,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.hub import Subscription
from gatewright.agent.ids import new_id
from gatewright.agent.inbox import Inbox, Input, Priority
from gatewright.agent.jobs import SessionJobs
from gatewright.agent.loop import Ports, run_turn
from gatewright.agent.model import OpenModel
from gatewright.agent.parts import CallPorts, Parts
from gatewright.agent.past import Entry, compact_ports, open_past
from gatewright.agent.spending import Spending
from gatewright.agent.stop import Stop
from gatewright.agent.toolrun import BatchPorts
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import Content, Progress, TextContent, ToolContext

MAIN = "main"
CLOSE_LIMIT = 5.0

log = logging.getLogger(__name__)


class Session:
    """Owns inbox, conversation and the runner task; nearly every method returns at once."""

    def __init__(self, parts: Parts) -> None:
        self.id = parts.id
        self.commands = parts.commands
        self._parts = parts
        self._where = parts.where
        self._model_name = parts.model_name
        self._model: OpenModel | None = None
        self._broker = Broker(lambda event, agent: self._publish(event, agent))
        self._inbox = Inbox()
        self._jobs = SessionJobs(
            self._tell, lambda running: self._publish(TasksChanged(running=running))
        )
        self._turn: asyncio.Task[object] | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._cache = CacheWatch()
        self._spending = Spending()
        self._spending.restore(e.event for e in parts.hub.kept() if e.agent == MAIN)
        self._compactor = Compactor(compact_ports(parts, self._publish))
        self._effort = ""
        self._cleared = False  # what the model is told at the beginning is read anew
        self._working = asyncio.Lock()  # held by a turn, or by work on the past
        self.past = open_past(
            parts, self._compactor, Entry(self._publish, self._needed, self._alone)
        )
        self._waited: dict[str, float] = {}
        self._tasks = [asyncio.create_task(self._run(), name="session runner")]
        if parts.writer is not None:
            unsaved = parts.hub.subscribe(since=parts.stored)
            writing = parts.writer.run(unsaved)
            self._tasks.append(asyncio.create_task(writing, name="transcript writer"))

    @property
    def mode(self) -> str:
        return self._parts.modes.current()

    @property
    def model(self) -> str:
        return self._model_name

    @property
    def busy(self) -> bool:
        """A turn is running or about to."""
        return not self._idle.is_set()

    def submit(self, text: str, attachments: tuple[Content, ...] = ()) -> str:
        """Queue input for the model; returns its id. Emits UserMessage once it is taken up."""
        item = Input(new_id(), (TextContent(text), *attachments))
        self._idle.clear()
        self._inbox.put(item)
        if self._turn is not None:
            self._tell_queue()
        return item.id

    def recall(self) -> tuple[str, ...]:
        """Take back queued input that was not taken up yet."""
        texts = self._inbox.recall()
        self._tell_queue()
        return texts

    def _tell_queue(self) -> None:
        if changed := self._inbox.changed():
            self._publish(changed)

    def interrupt(self) -> bool:
        """Stop the running turn; False when nothing runs."""
        if self._turn is None or self._turn.done():
            return False
        return self._turn.cancel()

    def answer(self, ask: int, answer: Answer) -> bool:
        """Answer a pending ask; False: someone else was first."""
        return self._broker.answer(ask, answer)

    def set_mode(self, name: str) -> str:
        """Switch the permission mode; returns the canonical name or raises ValueError."""
        before = self.mode
        mode = self._parts.modes.set(name)
        if mode != before:
            self._publish(ModeChanged(mode=mode, by="user"))
        return mode

    def cycle_mode(self) -> str:
        return self.set_mode(self._parts.modes.after(self.mode))

    async def run_command(self, line: str) -> Outcome:
        """Run `/name args`. Changes and submits are already applied when this returns."""
        context = CommandContext(
            modes=self._parts.modes,
            rules=self._parts.rules,
            model=self._model_name,
            commands=self.commands,
            spending=self._spending.table(),
            past=self.past,
            memory=self._parts.beside.memory,
        )
        outcome = await self.commands.run(line, context)
        if isinstance(outcome, Change):
            return self._apply(outcome)
        if isinstance(outcome, Submit):
            self.submit(outcome.text)
        return outcome

    def subscribe(self, *, since: int = 0) -> Subscription:
        """Everything kept so far with seq > since (stored history included), then live events."""
        return self._parts.hub.subscribe(since=since)

    async def idle(self) -> None:
        """Wait until no turn runs and the queue is empty."""
        await self._idle.wait()

    async def close(self) -> None:
        """Stop the turn, let the transcript finish, end every task."""
        self._broker.cancel_all()
        runner, *writers = self._tasks
        runner.cancel()
        await asyncio.wait([runner], timeout=CLOSE_LIMIT)
        await self._jobs.close()
        if self._parts.beside.closing:
            ending = [asyncio.ensure_future(close()) for close in self._parts.beside.closing]
            await asyncio.wait(ending, timeout=CLOSE_LIMIT)
        self._parts.hub.close()
        if writers:
            await asyncio.wait(writers, timeout=CLOSE_LIMIT)
        if self._parts.writer is not None:
            self._parts.writer.close()
        if self._model is not None:
            await self._model.provider.close()

    def _apply(self, change: Change) -> Outcome:
        match change.operation:
            case SetMode(mode=name):
                try:
                    return Say.text(f"Mode: {self.set_mode(name)}")
                except ValueError as error:
                    return Say.text(str(error), "warning")
            case SetModel(model=name):
                return self._change_model(name)
            case SetEffort(effort=effort):
                self._effort = effort
                return self._change_model(self._model_name)
            case ClearHistory():
                if self.busy:
                    return Say.text("Interrupt the running turn first (Esc).", "warning")
                self._publish(Cleared())
                self._cleared = True
                return change
            case _:
                assert_never(change.operation)

    def _change_model(self, name: str) -> Outcome:
        try:
            opened = self._parts.open_model(name, self._effort)
        except GatewrightError as error:
            return Say.text(str(error), "warning")
        if opened.name != self._model_name:
            self._publish(ModelChanged(model=opened.name))
        self._model, self._model_name = opened, opened.name
        effort = f" ({opened.frame.effort} effort)" if opened.frame.effort else ""
        return Say.text(f"Model: {opened.name}{effort}")

    def _publish(self, event: AnyEvent, agent: str = MAIN) -> None:
        self._parts.hub.publish(event, agent=agent)
        if agent != MAIN:
            return
        for text in self._parts.beside.noticing(event):
            self._inbox.put(Input(new_id(), (TextContent(text),), Priority.LATER, hidden=True))
        self._spending.apply(event)
        if isinstance(event, AssistantMessage | Compacted):
            window = self._model.window if self._model else 0
            self._parts.hub.publish(self._spending.changed(window), agent=agent)

    async def _run(self) -> None:
        """The runner: takes input, runs turns, one at a time, for as long as the session lives."""
        if self._parts.opening is not None:
            await self._parts.opening(partial(self._broker.ask, MAIN))
        while True:
            if not len(self._inbox):
                self._idle.set()
            await self._inbox.wait()
            self._idle.clear()
            async with self._working:
                await self._take_inputs()
                model = await self._opened()
                if model is not None:
                    await self._run_turn(model)

    async def _take_inputs(self) -> bool:
        """Publish everything that waits, each with what it brings along, even when cancelled."""
        waiting = list(self._inbox.take())
        taken = bool(waiting)
        try:
            while waiting:
                brought = await self._brought(waiting[0])
                for content in brought:
                    self._publish(UserMessage(content=content, hidden=True))
                self._publish(waiting.pop(0).message())
        finally:
            for item in waiting:
                self._publish(item.message())
            self._tell_queue()
        return taken

    async def _brought(self, item: Input) -> Sequence[tuple[Content, ...]]:
        return () if item.hidden else await self._parts.beside.attending(item.text, self._where)

    async def _alone(self, work: Callable[[], Awaitable[object]]) -> object:
        """Do this while no turn runs; an interrupt ends it like a turn."""
        if self.busy:
            raise SessionError("Interrupt the running turn first (Esc).")
        self._idle.clear()
        async with self._working:
            task = self._turn = asyncio.ensure_future(work())
            try:
                return await task
            except asyncio.CancelledError:
                caller = asyncio.current_task()
                if caller is not None and caller.cancelling():
                    raise
                raise SessionError("Interrupted.") from None
            finally:
                self._turn = None
                if not len(self._inbox):
                    self._idle.set()

    async def _needed(self) -> OpenModel:
        """The model for work on the past; raises GatewrightError when there is none."""
        if self._model is None or self._cleared:
            before, self._cleared = self._model, False
            self._model = await asyncio.to_thread(
                self._parts.open_model, self._model_name, self._effort
            )
            if before is not None:
                await before.provider.close()
        return self._model

    async def _opened(self) -> OpenModel | None:
        """The model, opened at its first use: a session without a key can still be looked at."""
        try:
            return await self._needed()
        except GatewrightError as error:
            self._publish(TurnStarted())
            self._publish(TurnEnded(stop=Stop.PROVIDER_AUTH, message=str(error)))
            return None

    async def _run_turn(self, model: OpenModel) -> None:
        self._turn = asyncio.create_task(run_turn(self._ports(model), self._parts.talk))
        try:
            await asyncio.wait([self._turn])
        finally:
            turn, self._turn = self._turn, None
            if not turn.done():  # the session closes: the turn still settles its calls
                turn.cancel()
                await asyncio.wait([turn], timeout=CLOSE_LIMIT)
        if not turn.cancelled() and (defect := turn.exception()) is not None:
            log.error("the turn crashed", exc_info=defect)

    def _ports(self, model: OpenModel) -> Ports:
        parts = self._parts
        answers = AnswerPorts(
            model=model,
            fallbacks=self._next_fallback(),
            make_room=self._compactor.make_room,
            compact=self._compactor.rescue,
            retry_in=parts.retry_in,
            attempts=parts.attempts,
            barrier=parts.barrier,
            emit=self._publish,
            clock=parts.clock,
            cache=self._cache,
            patient=self._spending.answers > 0,
            silence=parts.limits.silence,
        )
        return Ports(
            answers=answers,
            tools=BatchPorts(
                parts.executor, self._context, self._publish, parts.clock, self._waited_for
            ),
            inputs=self._take_inputs,
            limits=parts.limits,
            ask=partial(self._broker.ask, MAIN) if parts.interactive else None,
            spent=self._spending.since_start,
        )

    def _next_fallback(self) -> Callable[[], OpenModel | None]:
        """The fallback models of one turn, in order; one that cannot be opened is passed over."""
        names = iter(self._parts.fallback_names)

        def following() -> OpenModel | None:
            for name in names:
                with suppress(GatewrightError):
                    return self._parts.open_model(name, self._effort)
            return None

        return following

    def _context(self, call_id: str) -> ToolContext:
        return self._parts.context(
            CallPorts(
                where=self._where,
                ask=partial(self._ask, call_id),
                progress=partial(self._progressed, call_id),
                move=self._move,
                jobs=self._jobs,
            )
        )

    async def _ask(self, call_id: str, ask: Ask) -> Answer:
        began = self._parts.clock.monotonic()
        try:
            return await self._broker.ask(MAIN, msgspec.structs.replace(ask, call_id=call_id))
        finally:
            waited = self._parts.clock.monotonic() - began
            self._waited[call_id] = self._waited.get(call_id, 0.0) + waited

    def _waited_for(self, call_id: str) -> float:
        """Seconds the call stood still for the person; that is not the tool's time."""
        return self._waited.pop(call_id, 0.0)

    def _progressed(self, call_id: str, progress: Progress) -> None:
        event = ToolProgressed(
            call_id=call_id, tail=progress.tail, size=progress.size, seconds=progress.seconds
        )
        self._publish(event)

    def _tell(self, text: str) -> None:
        """A notice for the model: behind what the person typed, but it wakes an idle session."""
        self._idle.clear()
        self._inbox.put(Input(new_id(), (TextContent(text),), Priority.LATER, hidden=True))

    def _move(self, cwd: Path) -> None:
        self._where = msgspec.structs.replace(self._where, cwd=cwd)
