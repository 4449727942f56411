"""The facade: all that a front end ever sees of the core."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.commands.outcome import (
    Change,
    Outcome,
    Quit,
    Scope,
    SetModel,
    Submit,
    Switch,
)
from gatewright.agent.commands.registry import LINES, Front, Mention
from gatewright.agent.context.announcements import Announcements
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.contribution import Contribution, Part, mentioned, part_of, parting
from gatewright.agent.history.history import History
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.models.in_use import Models
from gatewright.agent.record.events import AnyEvent, Envelope, ModeChanged, UsageChanged
from gatewright.agent.record.hub import Below, Subscription
from gatewright.agent.record.journal import of_main
from gatewright.agent.record.messages import CallPart
from gatewright.agent.session.agent import Agent, Own, Shared
from gatewright.agent.session.agent_calls import AgentCalls, AgentControl
from gatewright.agent.session.broker import Broker
from gatewright.agent.session.children import Children
from gatewright.agent.session.frame import Frame
from gatewright.agent.session.history_actions import Past, compact_ports
from gatewright.agent.session.inbox import Input, InputSource
from gatewright.agent.session.jobs import SessionJobs
from gatewright.agent.session.outcomes import Outcomes
from gatewright.agent.session.scopes import Scopes
from gatewright.agent.session.start.known_commands import (
    State,
    keep_line,
    keep_setting,
    known_commands,
    opting_in,
)
from gatewright.agent.settings.overview import SettingsBook
from gatewright.tools.access import MAIN, Where
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import Content, TextContent, ToolCall, ToolResult

if TYPE_CHECKING:
    from gatewright.agent.extensions.host import Alone
    from gatewright.agent.session.session_moments import SessionMoments
    from gatewright.agent.session.status.status_facts import StatusBook

CLOSE_LIMIT = 5.0


class Session:
    """Owns inbox, conversation and the runner task; nearly every method returns at once."""

    def __init__(self, frame: Frame, brought: Sequence[Contribution] = ()) -> None:
        self.id, self._frame, self._brought = frame.id, frame, list(brought)
        self._broker = Broker(frame.journal.publish, frame.rules.weigh)
        self._jobs = SessionJobs(
            lambda agent, text: self.tell(text, agent=agent, source="job"), frame.journal.publish
        )
        shared = Shared(frame, self._broker, self._jobs, frame.budget())
        self._leaving = "other"  # for who listens: resume, clear, prompt_input_exit
        self._main = Agent(shared, self._own(frame))
        self._agents = {MAIN: self._main}
        self._children = Children(shared, frame.children, self._agents)
        below = partial(self.part, AgentControl)
        self._below = AgentCalls(self._agents, self._children, frame, below)
        self.watch, self.weigh = self._below.watch, self._broker.weigh
        self.answer, self.stays = self._broker.answer, ""
        self.stop_agent, self.resume_agent = self._below.stop, self._below.resume
        self.spawn, self.typing = self._children.spawn, self._main.typing
        self.stop_task, self.jobs_of, self.keep = self._jobs.stop, self._jobs.of, frame.keep
        self._moments: SessionMoments | None = None
        if (models := self.part(ModelBook)) is not None:
            models.changed = self._main.models.renew
        self.past = Past(frame, self.part(History), self._main)
        self.scopes = Scopes(frame.rules, self._main.models, self._publish)
        main, jobs, resume = self._main, self._jobs, self._below.resume
        state = State(frame, self._brought, self.past, main.models, jobs, resume)
        self.commands = known_commands(state)
        self._outcomes = Outcomes(
            models=main.models,
            publish=self._publish,
            set_mode=self.set_mode,
            submit=lambda text, scope: self.submit(text, scope=scope),
            facts=lambda: (self.busy, main.where),
            kept_from=self._kept_from,
            opting=partial(opting_in, state),
        )
        self._announcements = Announcements([one for each in brought for one in each.announcements])
        own = (frame.costs.saw, self._saw, of_main(self._announcements.saw))
        frame.journal.begin((*own, *(fold for each in brought for fold in each.folds)))
        self._writing: list[asyncio.Task[None]] = []
        if (writer := frame.writer) is not None:
            writing = writer.run(frame.journal.hub().subscribe(since=frame.stored))
            self._writing.append(asyncio.create_task(writing, name="transcript writer"))

    def _own(self, frame: Frame) -> Own:
        """What the agent that the person talks to begins with."""
        return Own(
            path=MAIN,
            where=frame.where,
            talk=frame.talk,
            models=Models(frame.open_model, frame.model_name, frame.fallback_names, frame.effort),
            ledger=frame.ledger,
            retry_in=frame.retry_in,
            room=compact_ports(frame),
            barrier=frame.barrier,
            limits=frame.limits,
            spending=frame.spending,
            others=frame.costs,
            opening=self._open,
            brought=self._beside_input,
            begins=lambda item: self.scopes.begins(item),
            taken=lambda item: self.scopes.taken(item),
        )

    def take(self, late: Contribution) -> None:
        """What plugged in while the session runs counts from now on."""
        self._brought.append(late)
        for source in late.commands:
            self.commands.add(source)
        self._announcements.add(*late.announcements)
        self._frame.journal.follow(*late.folds)

    def part(self, kind: type[Part]) -> Part | None:
        """What an extension brought of this type."""
        return part_of(self._brought, kind)

    @property
    def mode(self) -> str:
        return self._frame.modes.current()

    @property
    def moved(self) -> str:
        """Where commands run now, as it is shown, if that is not the project's directory."""
        return self._main.where.moved

    @property
    def spent(self) -> UsageChanged:
        """What was used so far, in what is stored too."""
        return self._main.spent

    @property
    def unsaved(self) -> str:
        """What is to be said at its end: above all what of it the disk did not take."""
        return parting(self._frame.writer.unsaved if self._frame.writer else "", self._brought)

    @property
    def model(self) -> str:
        return self._main.models.name

    @property
    def setup_due(self) -> bool:
        return (book := self.part(ModelBook)) is not None and book.lacks(self.model)

    @property
    def instructions(self) -> Sequence[str] | None:
        return book.told() if (book := self.part(MemoryBook)) is not None else ()

    @property
    def answering(self) -> str:
        return book.answering(self.model) if (book := self.part(ModelBook)) is not None else ""

    async def opened(self) -> bool:
        """Wait until what is asked at the beginning is answered; whether there is work already."""
        await self._main.runner.opened.wait()
        return self.busy or self._main.talk.waiting is not None

    @property
    def busy(self) -> bool:
        """A turn is running or about to."""
        return self._main.runner.busy

    @property
    def status(self) -> StatusBook | None:
        from gatewright.agent.session.status.status_facts import StatusBook  # noqa: PLC0415  lazy

        return self.part(StatusBook)  # None where there is no screen

    def status_input(self, vim: str) -> bytes:
        """What a status line command reads."""
        book, cwd, effort = self.status, self._main.where.cwd, self._main.models.effort
        return book.input(cwd=cwd, effort=effort, vim=vim) if book is not None else b"{}"

    def submit(
        self,
        text: str,
        attachments: tuple[Content, ...] = (),
        *,
        typed: str | None = None,
        scope: Scope | None = None,
        id: str = "",
        agent: str = MAIN,
    ) -> str:
        """Queue input for the model; returns its id. Emits UserMessage once it is taken up.

        Only what is `typed`, None for all of it, names files to attach. The scope of a command is
        in force from then on, until the next input of a person.
        """
        if agent != MAIN:
            return self._below.say(agent, text, attachments, typed=typed, id=id)
        return self._main.submit(text, attachments, typed=typed, scope=scope, id=id)

    def take_back(self, give: Callable[[Sequence[tuple[Content, ...]]], None]) -> bool:
        """Give back what was not taken up yet, each with its attachments behind the text."""
        if taken := [item.content for item in self._main.runner.take_back()]:
            give(taken)
        return bool(taken)

    def interrupt(self) -> bool:
        """Stop the running turn; False when nothing runs."""
        return self._main.runner.interrupt()

    def to_background(self) -> int:
        """Send the commands that turns wait for to the background; how many there were."""
        return self._jobs.to_background()

    def set_mode(self, name: str) -> str:
        """Switch the permission mode; returns the canonical name or raises ValueError."""
        before = self.mode
        mode = self._frame.modes.set(name)
        if mode != before or mode == "auto":  # chosen again, it goes on after a pause
            self._publish(ModeChanged(mode=mode, by="user"))
        return mode

    def cycle_mode(self) -> str:
        return self.set_mode(self._frame.modes.after(self.mode))

    async def keep_setting(self, key: str, value: str) -> Outcome:
        """Keep a setting in the person's own file; a `Problem` where that cannot be."""
        return await keep_setting(self.part(SettingsBook), key, value)

    async def set_model(self, name: str) -> Outcome:
        """Use this model from the next turn on; a `Problem` where that cannot be."""
        return await self.apply(Change(SetModel(name)))

    def renew_model(self) -> None:
        """What the model is told at the beginning is made anew before its next turn."""
        self._main.models.renew()

    def restrict(self, rules: Sequence[tuple[str, str]]) -> None:
        """Add rules for this session, by behavior and text. Raises ValueError with a reason."""
        for behavior, rule in rules:
            self._frame.rules.add(behavior, rule)

    async def run_command(self, line: str, front: Front = LINES) -> Outcome:
        """Run `/name args`. Changes and submits are already applied when this returns.

        A front end that `switches` sessions is given a `Switch`, and goes over. One that opens
        `panels` is told nothing in their place.
        """
        outcome = await self.commands.run(line, front, busy=self.busy)
        if self._heard is not None and isinstance(outcome, Submit):
            command = self.commands.find(line.removeprefix("/").partition(" ")[0])
            outcome = await self._heard.expanded(line, command, outcome)
        return await self.apply(outcome, front)

    async def apply(self, outcome: Outcome, front: Front = LINES) -> Outcome:
        """Do what a choice led to, as `run_command` does it for a line."""
        done = await self._outcomes.apply(outcome, front)
        match done:  # why the session ends, if it does
            case Switch(path=path, copy=copy):
                self._leaving = "resume" if path or copy else "clear"
            case Quit():
                self._leaving = "prompt_input_exit"
            case _:
                pass
        return done

    async def remember(self, line: str) -> Outcome:
        """Keep a line in the project's instruction file."""
        return await keep_line(self.part(MemoryBook), line)

    async def mentions(self, begun: str) -> Sequence[Mention]:
        return await mentioned(self._brought, begun)

    def subscribe(
        self, *, since: int = 0, agent: str = MAIN, below: Below = (), streamed: bool = False
    ) -> Subscription:
        """What is kept with seq > since, then live events; `streamed`: and what still holds."""
        hub = self._frame.journal.hub(agent)
        return hub.subscribe(since=since, below=below, streamed=streamed)

    async def idle(self) -> None:
        """Wait until no turn runs and the queue is empty."""
        await self._main.runner.idle()

    async def set_up(self, trigger: str) -> None:
        """Have the one-time work of the project done by who listens: `init` or `maintenance`."""
        if self._heard is not None:
            await self._heard.set_up(trigger)

    async def close(self) -> None:
        """Stop the turn, let the transcript finish, end every task."""
        if self._heard is not None:
            await self._heard.ends(self._leaving)
            await self._heard.close()
        self._broker.cancel_all()
        await self._main.close()
        await self._jobs.close()
        await self._children.close()
        ending = [asyncio.ensure_future(close()) for each in self._brought for close in each.close]
        if ending:
            await asyncio.wait(ending, timeout=CLOSE_LIMIT)
        self._frame.journal.close()
        if self._writing:
            await asyncio.wait(self._writing, timeout=CLOSE_LIMIT)
        if self._frame.writer is not None:
            self._frame.writer.close()
        await self._main.models.close()

    @property
    def _heard(self) -> SessionMoments | None:
        """Whom the session asks at its own moments; None while nobody listens."""
        if self._moments is None and self._frame.moments is not None:
            from gatewright.agent.session.session_moments import SessionMoments  # noqa: PLC0415  only there

            self._moments = SessionMoments(self._frame.listeners, self._main)
        return self._moments

    async def _kept_from(self, before: str, name: str) -> str:
        return await self._heard.kept_from(before, name) if self._heard is not None else ""

    def _saw(self, envelope: Envelope) -> None:
        if (agent := self._agents.get(envelope.agent)) is not None:
            agent.saw(envelope.event)
        if envelope.agent != MAIN:
            self._children.saw(envelope)
        elif self._heard is not None:
            self._heard.saw(envelope.event)

    def _publish(self, event: AnyEvent) -> None:
        self._frame.journal.publish(event)

    async def _open(self) -> None:
        if self._frame.opening is not None:
            await self._frame.opening(partial(self._broker.ask, MAIN))
        if self._heard is not None:
            await self._heard.began(self._frame.begins)

    async def _beside_input(self, item: Input, where: Where) -> Sequence[tuple[Content, ...]]:
        made = self.scopes.before(item)
        if item.hidden:
            return made
        if self._heard is not None:
            await self._heard.settled()
        every = [brings for each in self._brought for brings in each.brings]
        found = [one for brings in every for one in await brings(item.own, item.text, where)]
        return [*((TextContent(text),) for text in self._announcements.due()), *found, *made]

    async def ask(self, ask: Ask, agent: str = MAIN) -> Answer:
        """Put a question to the person, as the agent of that path."""
        return await self._broker.ask(agent, ask)

    def tell(
        self,
        text: str,
        *,
        agent: str = MAIN,
        wakes: bool = True,
        source: InputSource = "program",
    ) -> None:
        """A notice for the model of that agent, behind what was typed; whose words it is."""
        if (owner := self._agents.get(agent)) is not None:
            owner.tell(text, wakes=wakes, source=source)

    def agent(self, path: str) -> Agent | None:
        """The one that lives under that path."""
        return self._agents.get(path)

    async def call(
        self, call: ToolCall, agent: str = MAIN, *, alone: Alone | None = None
    ) -> ToolResult:
        """Run a call through the gate, as one of that agent, of which those `alone` hear and are
        asked, in place of all others. Raises SessionError: the agent is gone."""
        if (owner := self._agents.get(agent)) is None:
            raise SessionError(f"There is no agent {agent}.")
        executor, context = self._frame.executor, owner.context(call.id)
        if alone is not None:
            context = msgspec.structs.replace(context, moments=alone.moments, ask=alone.ask)
        return await executor.run(await executor.prepare(call, context.where), context)

    async def run_call(self, part: CallPart) -> ToolResult:
        """Run a call that no turn of ours made, with all its events."""
        from gatewright.agent.turn.tool_calls import run_batch  # noqa: PLC0415  lazy

        self._frame.ledger.forget_shown()  # what others still have is not known
        return (await run_batch((part,), self._main.tools))[0].result
