"""Agents of workflows, opened through the crew that opens all others, and told of in other ways.

None of them is in the session's list of agents or in its file: the run tells of all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gatewright.agent.agents.crew import Apart, Crew, CrewLimits
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.agents.life import Life
from gatewright.agent.agents.places import Places
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.agents.agent_session import AgentSession
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.workflows.shaped_answer import Answer
from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AnyEvent,
    AssistantMessage,
    Envelope,
    InputDelta,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
)
from gatewright.agent.record.events_of_agents import ASKS
from gatewright.agent.record.messages import Usage
from gatewright.agent.session.jobs import OwnJobs, SessionJobs
from gatewright.agent.turn.stop import Stop
from gatewright.agent.workflows.runs.past import hash_of
from gatewright.agent.workflows.runs.run_port import (
    BUDGET,
    LIMIT,
    MODEL,
    REFUSED,
    SCHEMA,
    STOPPED,
    Doing,
    Outcome,
)
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import ToolFailure

STOPPED_BY = {"person": "The person stopped it.", "session": "The session ended."}
MOST = 64  # places of the crew itself: the scheduler counts before
BEGINS = (TextDelta, ThinkingDelta, InputDelta, AssistantMessage, TurnEnded)
LIMITS = frozenset(
    {Stop.MAX_TURNS, Stop.LOOP_GUARD, Stop.PROMPT_TOO_LONG, Stop.HOOK_STOPPED, Stop.TOOL_DEFERRED}
)


class LifeWorker:
    """Implements `Worker` over one life."""

    def __init__(
        self,
        workers: Workers,
        life: Life,
        answer: Answer | None,
        moved: Callable[[], object],
    ) -> None:
        self._workers, self.life, self.answer, self.moved = workers, life, answer, moved
        self.touched = False  # a person spoke with it
        self.id, self.path = life.id, life.path
        self.began = asyncio.Event()
        self.starts = False  # agents of its own

    @property
    def model(self) -> str:
        return self.life.model

    def doing(self) -> Doing:
        life = self.life
        state = "running"
        if life.phase == "waiting":
            state = "asks" if life.is_asking else "waiting"
        said = ASKS if life.is_asking else life.state
        said += f" {life.held_for:.0f} s" if life.held_for >= 0.5 else ""
        what = f"{said} {life.target}".strip() or (life.phase if state != "running" else "")
        usage, cost = self._below()
        return Doing(state, what, life.tokens + usage.context, life.cost + cost)

    def _below(self) -> tuple[Usage, float]:
        return self._workers.below(self.path) if self.starts else (Usage(), 0.0)

    def last(self) -> tuple[str, ...]:
        return tuple(self.life.lines())

    async def wait(self) -> Outcome:
        life = self.life
        await life.ended.wait()
        self.began.set()
        files = await self._workers.files_of(self.path)
        usage, cost = self._below()
        value, kind, why = self._came_to()
        return Outcome(
            ok=not kind,
            value=value if not kind else None,
            kind=kind,
            why=why,
            usage=life.usage.plus(usage),
            cost=life.cost + cost,
            files=files,
            worktree=life.worktree,
            refused=life.refused,
            touched=self.touched,
        )

    def _came_to(self) -> tuple[Any, str, str]:
        """What it gave, or how it failed and why."""
        life = self.life
        end = life.end
        assert end is not None
        answer = self.answer
        if end.status == "completed":
            if answer is None:
                return life.said, "", ""
            if answer.given:
                return answer.value, "", ""
            return None, SCHEMA, f"Its answer does not fit the schema: {answer.problem}"
        stopped = STOPPED_BY.get(life.stopping, "It was stopped.")
        why = end.what or (stopped if end.status == "stopped" else f"It ended: {end.status}.")
        if end.status == "budget_exhausted":
            return None, BUDGET, why
        if end.status == "stopped":
            refused = life.stop_of_turn is Stop.USER_REFUSED
            return None, REFUSED if refused else STOPPED, why
        return None, LIMIT if life.stop_of_turn in LIMITS else MODEL, why

    def spoken_to(self) -> None:
        self.touched = True

    def stop(self, by: str) -> None:
        self._workers.crew.stop(self.life, by)

    def say(self, text: str) -> None:
        try:
            self._workers.crew.deliver(self.life, text, "person")
        except ToolFailure as failure:
            raise GatewrightError(str(failure)) from None


class Workers:
    """The crew of all runs of a session."""

    def __init__(self, host: Host, agents: AgentSession, most: Callable[[], int]) -> None:
        """`most` agents at once are started by agents of runs, besides those of the runs."""
        self._host, self._agents = host, agents
        self._hidden = SessionJobs(_untold, _nobody)
        self._of: dict[str, LifeWorker] = {}  # that live, by path
        self.counts: Callable[[str], object] = _nobody  # an agent of ours starts one: in its run
        ports = replace(
            agents.ports,  # those of the session, but for whom they count and who is told
            jobs=self._jobs,
            limits=lambda: CrewLimits(agents.crew.limits.depth, MOST, 10**9),
            new_id=agents.crew.new_id,
            tell=self._told,
        )
        self.crew = Crew(ports)
        agents.bounds.elsewhere = self._kind_of
        agents.crew.apart = Apart(self._counts, Places(most))
        before = host.asks

        def asks(agent: str, waiting: bool) -> None:
            (self.crew.asks if agent in self._of else before)(agent, waiting)

        host.asks = asks

    async def ready(self, kind: AgentKind) -> None:
        """Servers that it needs are there. Raises ToolFailure."""
        if kind.required_servers:
            await self._agents.ready(kind, MAIN)

    def add(self, worker: LifeWorker) -> None:
        self._of[worker.path] = worker

    def life(self, path: str) -> Life | None:
        worker = self._of.get(path)
        return worker.life if worker is not None else None

    def say(self, path: str, text: str) -> bool:
        """The person's words for one of them. Raises ToolFailure."""
        if (worker := self._of.get(path)) is None:
            return False
        self.crew.deliver(worker.life, text, "person")
        worker.spoken_to()
        return True

    def answer_of(self, path: str) -> Answer | None:
        worker = self._of.get(path)
        return worker.answer if worker is not None else None

    async def files_of(self, path: str) -> Mapping[str, str]:
        """What it changed, with a hash of what is there now."""
        if not (paths := self._host.changes.of(path)):
            return {}
        return await asyncio.to_thread(_hashed, paths)

    def saw(self, envelope: Envelope) -> None:
        worker = self._of.get(envelope.agent)
        if worker is None:
            return
        event = envelope.event
        if isinstance(event, BEGINS):
            worker.began.set()
        self.crew.saw(envelope)

    def _counts(self, owner: str) -> bool:
        """Whether an agent of a run, or one below it, starts another. Raises ToolFailure."""
        above = "/".join(owner.split("/")[:2])
        if (worker := self._of.get(above)) is None:
            return False
        self.counts(worker.path)
        worker.starts = True
        return True

    def _kind_of(self, path: str) -> AgentKind | None:
        worker = self._of.get(path)
        return worker.life.order.kind if worker is not None else None

    def below(self, path: str) -> tuple[Usage, float]:
        """What agents have used that this one started."""
        usage, cost = Usage(), 0.0
        for each in self._host.base.costs.below(path):
            usage, cost = usage.plus(each.usage), cost + each.cost
        return usage, cost

    def _jobs(self, agent: str) -> OwnJobs:
        """Those that hang on the main agent are nobody's but the run's."""
        return self._hidden.of(agent) if agent == MAIN else self._host.session.jobs_of(agent)

    def _told(self, event: AnyEvent, agent: str) -> None:
        del agent
        match event:
            case AgentProgressed(child=child) if (worker := self._of.get(child)) is not None:
                worker.moved()
            case AgentFinished(child=child):
                self._agents.over(child)
                self._host.base.costs.leave(child)
                if (worker := self._of.pop(child, None)) is not None:
                    worker.began.set()
            case _:
                pass

    async def close(self) -> None:
        await self.crew.close()
        await self._hidden.close()


def _nobody(path: object) -> None:
    del path


def _untold(owner: str, text: str) -> None:
    del owner, text


def _hashed(paths: Sequence[str]) -> Mapping[str, str]:
    return {path: hash_of(Path(path)) for path in paths}
