"""The work on one live call: an agent, another one after a failure, and never longer than said."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.workflows.runs.run_port import (
    BUDGET,
    REFUSED,
    STOPPED,
    TIMEOUT,
    CallProblem,
    Outcome,
    Work,
    Worker,
)

if TYPE_CHECKING:
    from gatewright.agent.workflows.runs.call import Call
    from gatewright.agent.workflows.runs.run import Run

STOPS = 10.0  # seconds for one that is stopped to be gone
LAST = frozenset({REFUSED, STOPPED, BUDGET})  # ends after which nobody tries again


class Working:
    def __init__(self, run: Run) -> None:
        self._run = run

    async def through(self, call: Call) -> None:
        """To its end, whatever that is; the place it had is given back."""
        run = self._run
        try:
            outcome = await self._attempts(call)
        finally:
            call.worker = None
            run.ports.scheduler.begins(call.about.prefix)
            run.ports.scheduler.give()
        run.came_to(call, outcome)

    async def _attempts(self, call: Call) -> Outcome:
        run, left = self._run, call.called.options.retries
        while True:
            if over := run.money.over():
                return Outcome(ok=False, kind=BUDGET, why=over)
            outcome = await self._attempt(call)
            if call.restart and not (run.stopping or run.over):
                call.restart = False
                continue
            if outcome.ok or outcome.kind in LAST or left <= 0 or run.stopping or run.over:
                return outcome
            left -= 1
            run.note(f"{call.label}: {outcome.kind}, tried again")

    async def _attempt(self, call: Call) -> Outcome:
        run, agents = self._run, self._run.ports.agents
        goes_on, call.goes_on = call.goes_on, ""
        agent = goes_on or agents.new_id()
        run.attempt(call, agent)
        options = call.called.options
        phase = call.called.phase
        named = " · ".join(map(in_line, filter(None, (run.name, phase, options.label))))
        work = Work(
            run=run.id,
            index=call.index,
            agent=agent,
            prompt=call.called.prompt,
            options=options,
            label=call.label,
            phase=phase,
            called=named,
            goes_on=bool(goes_on),
            moved=lambda: run.moved(call),
        )
        try:
            worker = call.worker = await agents.start(work)
        except CallProblem as problem:
            return Outcome(ok=False, kind=problem.kind, why=str(problem))
        warming = asyncio.ensure_future(self._warm(call, worker))
        try:
            outcome = await self._waited(worker, options.timeout_minutes)
        finally:
            warming.cancel()
        call.usage = call.usage.plus(outcome.usage)
        call.cost += outcome.cost
        call.worker = None
        run.money.paid(outcome.usage, outcome.cost)
        return outcome

    async def _waited(self, worker: Worker, minutes: float) -> Outcome:
        try:
            async with asyncio.timeout(minutes * 60):
                return await worker.wait()
        except TimeoutError:
            worker.stop(TIMEOUT)
        why = f"It worked for {minutes:g} minutes, which is its limit."
        ended = Outcome(ok=False)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOPS):
                ended = await worker.wait()
        return replace(ended, ok=False, value=None, kind=TIMEOUT, why=why)

    async def _warm(self, call: Call, worker: Worker) -> None:
        """Those who are held for it may begin."""
        if self._run.ports.scheduler.held(call.about.prefix):
            await worker.began.wait()
            self._run.ports.scheduler.begins(call.about.prefix)
