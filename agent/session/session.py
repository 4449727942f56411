"""The facade: all that a front end ever sees of the core."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import assert_never

import msgspec

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
from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.in_use import Models
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Compacted,
    Envelope,
    ModeChanged,
    ModelChanged,
    Moved,
    Noticed,
    Rewound,
    ToolProgressed,
    UsageChanged,
)
from gatewright.agent.record.hub import Subscription
from gatewright.agent.record.ids import new_id
from gatewright.agent.session.broker import Broker
from gatewright.agent.session.history_actions import Entry, compact_ports, open_past
from gatewright.agent.session.inbox import Input, Priority
from gatewright.agent.session.jobs import SessionJobs
from gatewright.agent.session.parts import CallPorts, Parts
from gatewright.agent.session.runner import Runner, RunnerPorts
from gatewright.agent.session.status_facts import StatusBook
from gatewright.agent.turn.answers import AnswerPorts
from gatewright.agent.turn.cache_watch import CacheWatch
from gatewright.agent.turn.loop import Ports, run_turn
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.tool_calls import BatchPorts
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import Content, Progress, TextContent, ToolContext

MAIN = "main"
CLOSE_LIMIT = 5.0


class Session:
    """Owns inbox, conversation and the runner task; nearly every method returns at once."""

    def __init__(self, parts: Parts) -> None:
        self.id = parts.id
        self.commands = parts.commands
        self._parts = parts
        self._where = parts.where
        self._models = Models(parts.open_model, parts.model_name, parts.fallback_names)
        if parts.beside.models is not None:
            parts.beside.models.changed = self._models.renew
        parts.hub.tap(self._follow_mode)
        self._broker = Broker(lambda event, agent: self._publish(event, agent))
        self._jobs = SessionJobs(self._tell, self._publish)
        self._cache = CacheWatch()
        self._spending = parts.spending
        self._compactor = Compactor(compact_ports(parts, self._publish))
        self._runner = Runner(
            RunnerPorts(
                publish=self._publish,
                brought=self._brought,
                model=self._needed,
                turn=self._run_turn,
                opening=self._open,
            )
        )
        entry = Entry(self._publish, self._needed, self._runner.alone)
        self.past = open_past(parts, self._compactor, entry)
        self._waited: dict[str, float] = {}
        self._writing: list[asyncio.Task[None]] = []
        if parts.writer is not None:
            unsaved = parts.hub.subscribe(since=parts.stored)
            writing = parts.writer.run(unsaved)
            self._writing.append(asyncio.create_task(writing, name="transcript writer"))

    @property
    def mode(self) -> str:
        return self._parts.modes.current()

    @property
    def moved(self) -> str:
        """Where commands run now, if that is not the project's directory, as it is shown."""
        return self._where.moved

    @property
    def spent(self) -> UsageChanged:
        """What was used so far, in what is stored too; the window is known after a request."""
        model = self._models.current
        return self._spending.changed(model.window if model else 0)

    @property
    def unsaved(self) -> str:
        """What of this session the disk did not take, in a sentence; empty when it has all."""
        return self._parts.writer.unsaved if self._parts.writer is not None else ""

    @property
    def model(self) -> str:
        return self._models.name

    @property
    def setup_due(self) -> bool:
        """Nothing that could answer is set up."""
        book = self._parts.beside.models
        return book is not None and book.lacks(self.model)

    @property
    def answering(self) -> str:
        """The model and where it comes from."""
        book = self._parts.beside.models
        return book.answering(self.model) if book is not None else ""

    async def opened(self) -> None:
        """Wait until what is asked at the beginning is answered."""
        await self._runner.opened.wait()

    @property
    def busy(self) -> bool:
        """A turn is running or about to."""
        return self._runner.busy

    @property
    def status(self) -> StatusBook | None:
        """For a status line of the person's own; None where there is no screen."""
        return self._parts.beside.status

    def status_input(self, vim: str) -> bytes:
        """What a status line command reads."""
        book = self._parts.beside.status
        cwd, effort = self._where.cwd, self._models.effort
        return book.input(cwd=cwd, effort=effort, vim=vim) if book is not None else b"{}"

    def submit(self, text: str, attachments: tuple[Content, ...] = ()) -> str:
        """Queue input for the model; returns its id. Emits UserMessage once it is taken up."""
        item = Input(new_id(), (TextContent(text), *attachments))
        self._runner.put(item)
        return item.id

    def recall(self) -> tuple[str, ...]:
        """Take back queued input that was not taken up yet."""
        return self._runner.recall()

    def take_back(self) -> tuple[tuple[Content, ...], ...]:
        """Like `recall`, each with its attachments behind the text."""
        return tuple(item.content for item in self._runner.take_back())

    def interrupt(self) -> bool:
        """Stop the running turn; False when nothing runs."""
        return self._runner.interrupt()

    def to_background(self) -> int:
        """Send the commands that turns wait for to the background; how many there were."""
        return self._jobs.to_background()

    async def stop_task(self, id: str) -> str:
        """Stop background work; returns how it ended. Raises GatewrightError."""
        return await self._jobs.stop(id)

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

    def restrict(self, rules: Sequence[tuple[str, str]]) -> None:
        """Take over rules of a session that was left, by behavior and text."""
        for behavior, rule in rules:
            self._parts.rules.add(behavior, rule)

    async def run_command(
        self, line: str, *, switches: bool = False, panels: bool = False
    ) -> Outcome:
        """Run `/name args`. Changes and submits are already applied when this returns.

        A front end that `switches` sessions is given a `Switch`, and goes over. One that opens
        `panels` is told nothing in their place.
        """
        context = CommandContext(
            modes=self._parts.modes,
            rules=self._parts.rules,
            model=self._models.name,
            commands=self.commands,
            spending=self._spending.table(),
            past=self.past,
            memory=self._parts.beside.memory,
            models=self._parts.beside.models,
            settings=self._parts.beside.settings,
            permissions=self._parts.beside.permissions,
            effort=self._models.effort,
            switches=switches,
            panels=panels,
            busy=self.busy,
            jobs=self._jobs,
        )
        outcome = await self.commands.run(line, context)
        if isinstance(outcome, Change):
            return await self._apply(outcome)
        if isinstance(outcome, Submit):
            self.submit(outcome.text)
        return outcome

    def subscribe(self, *, since: int = 0) -> Subscription:
        """Everything kept so far with seq > since (stored history included), then live events."""
        return self._parts.hub.subscribe(since=since)

    async def idle(self) -> None:
        """Wait until no turn runs and the queue is empty."""
        await self._runner.idle()

    async def close(self) -> None:
        """Stop the turn, let the transcript finish, end every task."""
        self._broker.cancel_all()
        await self._runner.close()
        await self._jobs.close()
        if self._parts.beside.closing:
            ending = [asyncio.ensure_future(close()) for close in self._parts.beside.closing]
            await asyncio.wait(ending, timeout=CLOSE_LIMIT)
        self._parts.hub.close()
        if self._writing:
            await asyncio.wait(self._writing, timeout=CLOSE_LIMIT)
        if self._parts.writer is not None:
            self._parts.writer.close()
        await self._models.close()

    async def _apply(self, change: Change) -> Outcome:
        match change.operation:
            case SetMode(mode=name, then=then):
                try:
                    said = Say.text(f"Mode: {self.set_mode(name)}")
                except ValueError as error:
                    return Say.text(str(error), "warning")
                if then:
                    self.submit(then)
                    return Submit(then)
                return said
            case SetModel(model=name):
                return await self._change_model(name, self._models.effort)
            case SetEffort(effort=effort):
                return await self._change_model(self._models.name, effort)
            case ClearHistory():
                if self.busy:
                    return Say.text("Interrupt the running turn first (Esc).", "warning")
                self._publish(Cleared())
                self._models.renew()
                return change
            case _:
                assert_never(change.operation)

    async def _needed(self) -> OpenModel:
        before = self._models.name
        opened = await self._models.needed()
        if not before and self._models.name:
            self._publish(ModelChanged(model=self._models.name))
        if note := self._models.note(opened):
            self._publish(Noticed(text=note, tone="warning"))
        return opened

    def _follow_mode(self, envelope: Envelope) -> None:
        if isinstance(envelope.event, ModeChanged) and envelope.agent == MAIN:
            self._models.mode_changed()

    async def _change_model(self, name: str, effort: str) -> Outcome:
        before = self._models.name
        try:
            opened = await self._models.change(name, effort)
        except GatewrightError as error:
            return Say.text(str(error), "warning")
        if opened.name != before:
            self._publish(ModelChanged(model=opened.name))
        said = f" ({opened.frame.effort} effort)" if opened.frame.effort else ""
        which = f", now {opened.frame.model}" if opened.by_mode else ""
        note = self._models.note(opened)
        return Say.text("\n".join(filter(None, [f"Model: {opened.name}{which}{said}", note])))

    def _publish(self, event: AnyEvent, agent: str = MAIN) -> None:
        self._parts.hub.publish(event, agent=agent)
        if agent != MAIN:
            return
        for text in self._parts.beside.noticing(event):
            self._runner.put(_notice(text, wakes=False))
        self._spending.apply(event)
        if isinstance(event, AssistantMessage | Compacted | Rewound | Cleared):
            self._parts.hub.publish(self.spent, agent=MAIN)

    async def _open(self) -> None:
        if self._parts.opening is not None:
            await self._parts.opening(partial(self._broker.ask, MAIN))

    async def _brought(self, item: Input) -> Sequence[tuple[Content, ...]]:
        return () if item.hidden else await self._parts.beside.attending(item.text, self._where)

    async def _run_turn(self, model: OpenModel) -> Stop:
        try:
            return await run_turn(self._ports(model), self._parts.talk)
        finally:
            await self._models.settle()

    def _ports(self, model: OpenModel) -> Ports:
        parts = self._parts
        answers = AnswerPorts(
            model=model,
            fallbacks=self._models.fallbacks(),
            following=self._models.following,
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
            patience=parts.limits.patience,
        )
        return Ports(
            answers=answers,
            tools=BatchPorts(
                parts.executor, self._context, self._publish, parts.clock, self._waited_for
            ),
            inputs=self._runner.take_inputs,
            limits=parts.limits,
            ask=partial(self._broker.ask, MAIN) if parts.interactive else None,
            spent=self._spending.since_start,
        )

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
            call_id=call_id,
            tail=progress.tail,
            size=progress.size,
            seconds=progress.seconds,
            movable=progress.movable,
        )
        self._publish(event)

    def _tell(self, text: str) -> None:
        """A notice for the model: behind what the person typed, but it wakes an idle session."""
        self._runner.put(_notice(text, wakes=True))

    def _move(self, cwd: Path) -> None:
        self._where = msgspec.structs.replace(self._where, cwd=cwd)
        self._publish(Moved(where=self._where.moved))


def _notice(text: str, *, wakes: bool) -> Input:
    return Input(new_id(), (TextContent(text),), Priority.LATER, hidden=True, wakes=wakes)
