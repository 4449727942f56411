"""A stand-in for the session: a real hub and real commands, events written down by the test."""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from gatewright.agent.client.port import Give, SessionClient, StatusSource
from gatewright.agent.commands.memory import remember
from gatewright.agent.commands.outcome import (
    Change,
    ClearHistory,
    Outcome,
    Problem,
    Say,
    Scope,
    SetMode,
    SetModel,
    Submit,
)
from gatewright.agent.commands.registry import LINES, Command, Commands, Front, Mention
from gatewright.agent.commands.rules.rule_editor import PermissionBook
from gatewright.agent.commands.settings import kept
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.errors import SessionError
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.record.events import (
    Answered,
    AnyEvent,
    Cleared,
    Envelope,
    ModeChanged,
    ModelChanged,
    QueueChanged,
    SessionStarted,
    UsageChanged,
    UserMessage,
)
from gatewright.agent.record.hub import Subscription
from gatewright.agent.record.journal import UPWARD
from gatewright.agent.record.messages import Usage
from gatewright.agent.session.history_actions import Past
from gatewright.agent.session.jobs import SessionJobs
from gatewright.agent.settings.overview import SettingsBook
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Block, Table, Text
from gatewright.tools.interact import Answer, RuleWeighed, Weighed
from gatewright.tools.protocol import Content, TextContent
from tests.fakes.commands import Desk, InUse
from tests.fakes.journals import journal as new_journal

MODES = ("default", "acceptEdits", "plan")
COMMANDS = ("help", "mode", "model", "permissions", "clear", "cost", "status", "exit")
START = 1_700_000_000.0


class Modes:
    def __init__(self) -> None:
        self.mode = "default"
        self.plan: Path | None = None

    def current(self) -> str:
        return self.mode

    def set(self, name: str) -> str:
        if name not in MODES:
            raise ValueError(f"There is no mode {name}.")
        self.mode = name
        return name

    def caution(self, name: str) -> str:
        del name
        return ""

    def plan_file(self) -> Path | None:
        return self.plan

    def after(self, mode: str) -> str:
        return MODES[(MODES.index(mode) + 1) % len(MODES)]

    def rows(self) -> Sequence[tuple[str, str]]:
        return [
            ("default", "reads inside the project and safe commands"),
            ("acceptEdits", "also edits inside the project"),
            ("plan", "only reading"),
        ]


class Rules:
    def table(self) -> Sequence[Block]:
        rows = (("allow", "Bash(pytest:*)", "project"), ("deny", "Read(.env)", "user"))
        return (Table(("", "Rule", "From"), rows),)

    def why(self, number: int) -> Sequence[Block]:
        return (Text(f"because of {number}"),)

    def add(self, behavior: str, rule: str) -> str:
        return f"{behavior} {rule}, for this session"

    def remove(self, rule: str) -> str:
        return f"Removed {rule}."


async def no_mentions(begun: str) -> Sequence[Mention]:
    del begun
    return ()


def weighs(rules: tuple[str, ...]) -> Weighed:
    """As if every rule were a good one."""
    return Weighed(tuple(RuleWeighed(f"Allows {rule}.") for rule in rules))


class FakeSession:
    """Records what the screen asks for; `publish` makes things happen."""

    def __init__(
        self, *, model: str = "scripted-1", mode: str = "default", cwd: str = "/home/sam/harbour"
    ) -> None:
        self.id = "0198c0de-0000-7000-8000-000000000001"
        self._names: set[str] = set(COMMANDS)
        self._desk = Desk()
        self._commands = Commands(self._known)
        self.model = model
        self.modes = Modes()
        self.modes.mode = mode
        self.sent: list[str] = []
        self.said: list[tuple[str, str]] = []  # to other agents
        self.stopped: list[str] = []
        self.resumed: list[str] = []
        self.lost: set[str] = set()  # agents of which nothing is known
        self.typed: list[str] = []
        self.typings = 0
        self.attached: list[tuple[Content, ...]] = []
        self.scope_hook: Callable[[Scope | None], None] = lambda _scope: None
        self.mentions_hook: Callable[[str], Awaitable[Sequence[Mention]]] = no_mentions
        self.sent_hook: Callable[[str], None] = lambda _text: None
        self.answers: list[tuple[int, Answer]] = []
        self.weighed: list[tuple[int, tuple[str, ...]]] = []
        self.weigh_hook: Callable[[tuple[str, ...]], Weighed] = weighs
        self.interrupts = 0
        self.movable = 0  # running commands that can go to the background
        self.closed = False
        self.busy = False
        self.queued: tuple[str, ...] = ()
        self.now = START
        self.published = 1  # the last event that the screen hears of
        self._followed = False
        self.status: StatusSource | None = None
        self.moved = self.stays = ""
        self.setup_due = False
        self.answering = ""
        self.instructions: Sequence[str] | None = ()
        self.spent = UsageChanged(usage=Usage(), cost=0.0, context=0, window=0)
        self.models: ModelBook | None = None
        self.memory: MemoryBook | None = None
        self.permissions: PermissionBook | None = None
        self.settings: SettingsBook | None = None
        self.past: Past | None = None
        self.jobs: SessionJobs | None = None
        ids = itertools.count(1)
        self.told: list[Envelope] = []
        self.journal = new_journal(
            self.told.append, clock=self._time, ids=lambda: f"id-{next(ids)}"
        )
        started = SessionStarted(model=model, mode=mode, cwd=cwd, app="test")
        self.journal.publish(started)

    def _time(self) -> float:
        self.now += 0.25
        return self.now

    @property
    def commands(self) -> Commands:
        """Over what the test gave the session by now."""
        self._commands.changed()
        return self._commands

    @property
    def unsaved(self) -> str:
        return ""

    @property
    def mode(self) -> str:
        return self.modes.mode

    def know(self, *names: str) -> None:
        """Have more of the built-in commands."""
        self._names.update(names)

    def _known(self) -> Sequence[Command]:
        """Over what the test gave the session by now."""
        desk = self._desk
        desk.modes, desk.rules = self.modes, Rules()
        desk.in_use = InUse(self.model)
        desk.models, desk.memory, desk.settings = self.models, self.memory, self.settings
        desk.permissions, desk.past, desk.jobs = self.permissions, self.past, self.jobs
        return [c for c in desk.listed(self._commands) if c.name in self._names]

    def publish(self, *events: AnyEvent, agent: str = "main") -> None:
        for event in events:
            number = self.journal.publish(event, agent).seq
            reaches = agent == MAIN or isinstance(event, UPWARD)
            if reaches and (event.durable or self._followed):
                self.published = number

    def submit(
        self,
        text: str,
        attachments: tuple[Content, ...] = (),
        *,
        typed: str | None = None,
        id: str = "",
        agent: str = MAIN,
    ) -> str:
        if agent != MAIN:
            self.said.append((agent, text))
            self.publish(UserMessage(content=(TextContent(text), *attachments)), agent=agent)
            return id
        self.sent.append(text)
        self.typed.append(text if typed is None else typed)
        self.attached.append(attachments)
        self.sent_hook(text)
        if self.busy:
            self.queued = (*self.queued, text)
            self.publish(QueueChanged(texts=self.queued))
        else:
            self.publish(UserMessage(content=(TextContent(text), *attachments)))
        return id or f"input-{len(self.sent)}"

    def typing(self) -> None:
        self.typings += 1

    def take_back(self, give: Give) -> bool:
        attached = self.attached[len(self.attached) - len(self.queued) :]
        texts, self.queued = self.queued, ()
        if texts:
            self.publish(QueueChanged(texts=()))
        taken = [(TextContent(text), *more) for text, more in zip(texts, attached, strict=True)]
        if taken:
            give(taken)
        return bool(taken)

    def interrupt(self) -> bool:
        self.interrupts += 1
        return self.busy

    def to_background(self) -> int:
        moved, self.movable = self.movable, 0
        return moved

    def answer(self, ask: int, answer: Answer, *, by: str = "") -> bool:
        self.answers.append((ask, answer))
        self.publish(Answered(id=ask, answer=answer, by=by))
        return True

    async def weigh(self, ask: int, rules: Sequence[str]) -> Weighed:
        self.weighed.append((ask, tuple(rules)))
        return self.weigh_hook(tuple(rules))

    def set_mode(self, name: str) -> str:
        mode = self.modes.set(name)
        self.publish(ModeChanged(mode=mode, by="user"))
        return mode

    def cycle_mode(self) -> str:
        return self.set_mode(self.modes.after(self.mode))

    async def run_command(self, line: str, front: Front = LINES) -> Outcome:
        return await self.apply(await self.commands.run(line, front, busy=self.busy), front)

    async def remember(self, line: str) -> Outcome:
        if self.memory is None:
            return Say.text("There are no instruction files here.")
        return await remember(self.memory, line)

    async def keep_setting(self, key: str, value: str) -> Outcome:
        return await kept(self.settings, key, value) if self.settings else Say(())

    async def apply(self, outcome: Outcome, front: Front = LINES) -> Outcome:
        before = outcome.said if isinstance(outcome, Change) else ()
        match outcome:
            case Change(operation=SetMode(mode=name, then=then)):
                try:
                    said = Say.text(f"Mode: {self.set_mode(name)}")
                except ValueError as error:
                    return Problem.of(str(error))
                if then:
                    self.submit(then)
                return said
            case Change(operation=SetModel(model=name)):
                self.model = name
                self.publish(ModelChanged(model=name))
                return Say((*before, Text(f"Model: {name}")))
            case Change(operation=ClearHistory()):
                self.publish(Cleared())
            case Submit(text=text, scope=scope) if not front.asks:
                self.scope_hook(scope)
                self.submit(text)
            case _:
                pass
        return outcome

    async def mentions(self, begun: str) -> Sequence[Mention]:
        return await self.mentions_hook(begun)

    def status_input(self, vim: str) -> bytes:
        return json.dumps({"model": {"id": self.model}, "vim": {"mode": vim}}).encode()

    def subscribe(self, *, since: int = 0, streamed: bool = False) -> Subscription:
        self._followed = True
        return self.journal.hub().subscribe(since=since, streamed=streamed)

    async def watch(self, agent: str) -> Subscription:
        if agent in self.lost:
            raise SessionError(f"Nothing is known of an agent {agent}.")
        return self.journal.hub(agent).subscribe(streamed=True)

    async def stop_agent(self, agent: str) -> Outcome:
        self.stopped.append(agent)
        return Say(())

    async def resume_agent(self, agent: str) -> Outcome:
        self.resumed.append(agent)
        return Problem.of(f"{agent} cannot go on.")

    async def opened(self) -> None:
        return

    async def idle(self) -> None:
        return

    async def close(self) -> None:
        self.closed = True
        self.journal.close()

    def facade(self) -> SessionClient:
        """As the type the screen wants."""
        return self
