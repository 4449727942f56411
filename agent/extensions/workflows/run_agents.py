"""Opens the agents of one run: who they are, what they may do, where what they say is written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.agents.joined import Joined
from gatewright.agent.agents.life import Order
from gatewright.agent.agents.recovered import conversation_of
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.workflows.call_agents import CallKinds, Meant
from gatewright.agent.extensions.workflows.shaped_answer import Answer
from gatewright.agent.extensions.workflows.workers import LifeWorker, Workers
from gatewright.agent.record.events import AssistantMessage, Envelope, ToolFinished, TurnEnded
from gatewright.agent.record.events_of_agents import AgentCost
from gatewright.agent.record.messages import CallPart, TextPart
from gatewright.agent.session.agent_calls import GO_ON
from gatewright.agent.session.children import Leading
from gatewright.agent.turn.budget import Limiting
from gatewright.agent.turn.stop import Stop
from gatewright.agent.workflows.engine.wire import CallOptions
from gatewright.agent.workflows.runs.run_port import (
    About,
    CallProblem,
    Doing,
    Outcome,
    Work,
    Worker,
)
from gatewright.agent.workflows.tool_spec import ANSWER, answer_spec
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import ToolFailure


class RunGround(msgspec.Struct, frozen=True, kw_only=True):
    """What all agents of a run have in common."""

    run: str
    name: str
    folder: Path  # of the run
    where: Callable[[], Where]
    leads: Leading
    said: str
    joins: Callable[[str, AgentCost], object]  # counts what it uses for a sum


class RunAgents:
    """Implements `AgentPort`; `budget` is said once the run is there."""

    def __init__(self, workers: Workers, kinds: CallKinds, ground: RunGround) -> None:
        self._workers, self._kinds, self._ground = workers, kinds, ground
        self.budget: Limiting | None = None

    def about(self, options: CallOptions) -> About:
        return self._kinds.meant(options).about

    def new_id(self) -> str:
        return self._workers.crew.new_id()

    async def start(self, work: Work) -> Worker:
        meant = self._kinds.meant(work.options)
        schema = work.options.schema
        try:
            await self._workers.ready(meant.base)
        except ToolFailure as failure:
            raise CallProblem("options", str(failure)) from None
        answer = Answer(schema) if schema is not None else None
        stored: tuple[Envelope, ...] = ()
        if work.goes_on:
            stored = await self._stored(work.agent)
            if (done := _finished(stored, answer)) is not None:
                return EndedWorker(work.agent, meant.about.model, done)
        order = self._order(work, meant, answer, stored)
        sum = AgentCost(
            path=f"{work.run}/{work.phase}/{meant.about.model}",
            kind=f"workflow {self._ground.name}",
            label=" · ".join(filter(None, (work.phase, meant.about.model))),
        )
        self._ground.joins(order.path, sum)
        try:
            life = self._workers.crew.start(order, attended=True)
        except ToolFailure as failure:
            return EndedWorker(work.agent, "", Outcome(ok=False, kind="model", why=str(failure)))
        worker = LifeWorker(self._workers, life, answer, work.moved)
        self._workers.add(worker)
        return worker

    def _order(
        self, work: Work, meant: Meant, answer: Answer | None, stored: tuple[Envelope, ...]
    ) -> Order:
        ground, options = self._ground, work.options
        joined = Joined(
            leads=ground.leads,
            folder=ground.folder / "agents",
            said=ground.said,
            told=answer.told if answer is not None and not stored else "",
            called=work.called,
            budgets=(self.budget,) if self.budget is not None else (),
            schema=options.schema,
            answers_by=answer_spec(options.schema) if options.schema is not None else None,
            missing=(lambda life: answer.missing(life.said)) if answer is not None else None,
        )
        return Order(
            id=work.agent,
            owner=MAIN,
            parent=MAIN,
            kind=meant.kind,
            prompt=GO_ON if stored else work.prompt,
            where=ground.where(),
            description=work.label,
            model=meant.about.model,
            effort=options.effort,
            scope=meant.scope,
            mode=meant.mode,
            isolation=options.isolation or meant.kind.isolation,
            stored=stored,
            joined=joined,
        )

    async def _stored(self, agent: str) -> tuple[Envelope, ...]:
        """What it said before it was cut off; nothing where that cannot be read."""
        file = self._ground.folder / "agents" / f"{agent}.jsonl"
        try:
            return await asyncio.to_thread(conversation_of, file)
        except GatewrightError:
            return ()


class EndedWorker:
    """One that had given its answer when its process ended: nobody works for it again."""

    def __init__(self, id: str, model: str, outcome: Outcome) -> None:
        self.id, self.path, self.model, self._outcome = id, "", model, outcome
        self.began = asyncio.Event()
        self.began.set()

    def doing(self) -> Doing:
        return Doing()

    def last(self) -> tuple[str, ...]:
        return ()

    async def wait(self) -> Outcome:
        return self._outcome

    def stop(self, by: str) -> None:
        """It works no more."""

    def say(self, text: str) -> None:
        del text
        raise GatewrightError("It has ended.")


def _finished(stored: tuple[Envelope, ...], answer: Answer | None) -> Outcome | None:
    """The answer of an agent whose last turn had ended."""
    ended = next((e.event for e in reversed(stored) if isinstance(e.event, TurnEnded)), None)
    last = next((n for n, e in enumerate(stored) if e.event is ended), -1)
    begun_again = any(isinstance(e.event, AssistantMessage) for e in stored[last + 1 :])
    if ended is None or ended.stop is not Stop.COMPLETED or begun_again:
        return None
    value: Any = _said(stored)
    if answer is not None:
        if (given := _given(stored)) is not None:
            answer.take(given)
        else:
            answer.missing(value)
        if not answer.given:
            return None
        value = answer.value
    return Outcome(ok=True, value=value)


def _said(stored: tuple[Envelope, ...]) -> str:
    for envelope in reversed(stored):
        if isinstance(envelope.event, AssistantMessage):
            parts = envelope.event.parts
            said = "".join(part.text for part in parts if isinstance(part, TextPart)).strip()
            if said:
                return said
    return ""


def _given(stored: tuple[Envelope, ...]) -> dict[str, Any] | None:
    """The last answer through the tool that was taken."""
    taken = {e.event.call_id for e in stored if isinstance(e.event, ToolFinished) and e.event.ok}
    for envelope in reversed(stored):
        if isinstance(envelope.event, AssistantMessage):
            for part in envelope.event.parts:
                if isinstance(part, CallPart) and part.name == ANSWER and part.id in taken:
                    return part.input
    return None
