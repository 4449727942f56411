"""One `agent()` of a script, from the moment it is made until its promise is settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from gatewright.agent.record.events_of_workflows import CallNow, CallState
from gatewright.agent.record.messages import Usage
from gatewright.agent.workflows.engine import wire
from gatewright.agent.workflows.runs.past import Chosen, Fate
from gatewright.agent.workflows.runs.run_port import About, Outcome, Worker

LINE = 200  # characters of what it came to, in a list
ENDED = frozenset({"done", "failed", "replayed", "stopped"})
LIVE = frozenset({"running", "waiting", "asks"})


class Call(msgspec.Struct, kw_only=True, eq=False):
    index: int
    called: wire.Called
    key: str = ""
    nth: int = 0
    about: About = About()
    state: CallState = "queued"
    worker: Worker | None = None
    agent: str = ""  # the last that worked on it
    goes_on: str = ""  # the agent that was cut off at it
    stale: str = ""  # why its recorded result may not be what it would come to now
    kind: str = ""  # of its failure
    why: str = ""
    value: Any = None
    usage: Usage = Usage()  # of all its agents
    cost: float = 0.0
    worktree: str = ""
    began: float = 0.0
    ended: float = 0.0
    touched: bool = False  # a person spoke with its agent
    restart: bool = False
    clock: Callable[[], float]

    @property
    def id(self) -> int:
        return self.called.id

    def fate(self, chosen: Chosen) -> Fate:
        """What becomes of it in a run that goes on."""
        return chosen.fate(
            self.key,
            self.nth,
            fresh=self.called.options.fresh,
            model=self.about.model,
            kind=self.about.kind,
        )

    @property
    def label(self) -> str:
        if said := self.called.options.label:
            return said
        line = " ".join(self.called.prompt.split())
        return line if len(line) <= 60 else f"{line[:59]}…"

    @property
    def over(self) -> bool:
        return self.state in ENDED

    @property
    def seconds(self) -> float:
        if not self.began:
            return 0.0
        return (self.ended or self.clock()) - self.began

    @property
    def used(self) -> tuple[int, float]:
        """Tokens and dollars, with what its agent has used so far."""
        tokens, cost = self.usage.context, self.cost
        if self.worker is not None:
            doing = self.worker.doing()
            tokens, cost = tokens + doing.tokens, cost + doing.cost
        return tokens, cost

    def now(self, *, held: bool = False) -> CallNow:
        tokens, cost = self.used
        state, doing = self.state, self.why
        if state == "running" and self.worker is not None:
            at = self.worker.doing()
            doing = at.what
            state = "asks" if at.state == "asks" else "waiting" if at.state == "waiting" else state
        elif state == "queued" and held:
            state = "held"
        elif state in ("done", "replayed"):
            doing = f"stale: {self.stale}" if self.stale else in_a_line(self.value)
        return CallNow(
            index=self.index,
            label=self.label,
            phase=self.called.phase,
            state=state,
            agent=self.agent,
            model=self.worker.model if self.worker is not None else self.about.model,
            tokens=tokens,
            cost=cost,
            seconds=self.seconds,
            doing=doing,
            error=self.kind,
        )

    def came_to(self, outcome: Outcome) -> None:
        """Its end, whatever is still to be told."""
        self.ended = self.clock()
        self.worker = None
        self.kind, self.why, self.value = outcome.kind, outcome.why, outcome.value
        self.worktree = outcome.worktree
        self.state = "done" if outcome.ok else "stopped" if outcome.kind == "stopped" else "failed"

    def settled(self, budget: wire.BudgetNow, *, throws: bool = False) -> wire.Settled:
        ok = self.state in ("done", "replayed")
        usage = self.usage
        return wire.Settled(
            id=self.id,
            ok=ok,
            value=self.value if ok else None,
            error=None if ok else wire.Failure(self.kind, self.why),
            throws=throws,
            agent_id=self.agent,
            usage=wire.Usage(usage.input, usage.output, usage.cache_read, usage.cache_write),
            cost_usd=self.cost,
            worktree=self.worktree,
            budget=budget,
        )


def in_a_line(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    line = " ".join(text[: LINE * 4].split())
    return line if len(line) <= LINE else f"{line[:LINE]}…"
