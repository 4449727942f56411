"""Whatever meets at an agent's end: it is told once, nobody is woken twice, and no row is left."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from gatewright.agent.agents.agent_tool import AgentTool, Asked
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.record.events import TurnStarted
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import ToolContext, ToolFailure, ToolResult
from gatewright.tools.tasks.task_output import TaskOutput, TaskOutputInput
from gatewright.tools.tasks.task_stop import TaskStop, TaskStopInput
from tests.agents.crews import GENERAL, WHERE, Team, team
from tests.fakes.executor import context
from tests.fakes.waiting import PATIENCE


class Starting:
    """Nothing keeps anything from being started."""

    delegating, moves_after = False, 0.0

    def kind(self, name: str, owner: str) -> AgentKind:
        del name, owner
        return GENERAL

    async def ready(self, kind: AgentKind, owner: str) -> None:
        del kind, owner

    def model(self, kind: AgentKind, asked: str, owner: str) -> str:
        del kind, asked, owner
        return ""

    def mode(self, asked: str) -> str:
        return asked


async def last(stream: Any) -> ToolResult | None:
    found = None
    async for item in stream:
        found = item if isinstance(item, ToolResult) else found
    return found


@dataclass
class Race:
    """One agent, and all that may happen to it at once."""

    made: Team
    ctx: ToolContext
    number: int
    chance: random.Random
    by_call = by_tool = escaped = False
    id = ""

    async def run(self) -> None:
        chance, made = self.chance, self.made
        asked = Asked(
            description="race",
            prompt=f"race {self.number}",
            run_in_background=chance.random() < 0.4,
        )
        tool = AgentTool(made.crew, Starting())
        call = asyncio.ensure_future(last(tool.run(asked, self.ctx)))
        await self._lets(3)
        life = next(iter(made.crew.lives.values()))
        self.id = life.id
        moves = [self._output, self._stop, self._background, self._message, self._nothing]
        doing = [asyncio.ensure_future(move()) for move in chance.sample(moves, 3)]
        if not asked.run_in_background and chance.random() < 0.25:
            await self._lets(20)
            call.cancel()
        await self._lets(12)
        async with asyncio.timeout(PATIENCE):
            result = None
            with suppress(asyncio.CancelledError):
                result = await call
            self.escaped = call.cancelled()
            await asyncio.gather(*doing)
            while made.crew.lives:
                await next(iter(made.crew.lives.values())).gone.wait()
            await made.house.session.idle()
        self.by_call = result is not None and result.data["status"] != "async_launched"
        self._check(launched=result is not None and not self.by_call)

    def _check(self, *, launched: bool) -> None:
        made = self.made
        path = f"{MAIN}/{self.id}"
        runs, notices = len(made.starts(path)), len(made.notices(self.id))
        assert len(made.ends(path)) == runs, "each run has one end"
        assert notices <= runs
        if self.by_call:
            assert notices <= runs - 1, "the call told it, and a notice too"
        told = notices + self.by_call + self.by_tool + self.escaped
        assert told >= runs if not self.by_tool else told >= 1, "an end was told by nobody"
        if launched and not self.by_tool and runs == 1:
            assert notices == 1
        jobs = made.house.session.jobs_of(MAIN).all
        assert not any(row.running for row in jobs.rows()), "a row without an owner"
        assert not jobs.unfinished(MAIN)
        turns = [one for one in made.of_main() if isinstance(one, TurnStarted)]
        every = [e for e in made.of_main() if type(e).__name__ == "UserMessage" and e.hidden]
        assert len(turns) <= len(every), "a turn was woken twice"

    async def _lets(self, most: int) -> None:
        """Others run, so often."""
        for _ in range(self.chance.randrange(1, most + 1)):
            await asyncio.sleep(0)

    async def _output(self) -> None:
        await self._lets(40)
        given = TaskOutputInput(task_id=self.id, block=self.chance.random() < 0.5, timeout=1000)
        with suppress(ToolFailure):
            result = await last(TaskOutput().run(given, self.ctx))
            assert result is not None
            self.by_tool = self.by_tool or result.data["status"] in ("completed", "stopped")

    async def _stop(self) -> None:
        await self._lets(40)
        with suppress(ToolFailure):
            await last(TaskStop().run(TaskStopInput(task_id=self.id), self.ctx))
            self.by_tool = True

    async def _background(self) -> None:
        await self._lets(40)
        self.made.house.session.to_background()

    async def _message(self) -> None:
        await self._lets(60)
        with suppress(ToolFailure):
            await self.made.mail().send(MAIN, self.id, "once more")

    async def _nothing(self) -> None:
        await self._lets(10)


async def races(count: int, seed: int) -> None:
    for first in range(0, count, 50):  # a session of fifty each
        async with team("say: done") as made:
            session = made.house.session
            ctx = msgspec.structs.replace(
                context(WHERE.root), where=WHERE, jobs=session.jobs_of(MAIN), agent=MAIN
            )
            for number in range(first, min(first + 50, count)):
                race = Race(made, ctx, number, random.Random(seed * 1_000_003 + number))
                try:
                    await race.run()
                except BaseException as error:
                    error.add_note(f"race {number} of seed {seed}")
                    raise
                made.envelopes.clear()
        assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_each_end_is_told_once() -> None:
    await races(150, 1)


@pytest.mark.proof
@pytest.mark.timeout(600)  # 25 s of work: on a busy machine some minutes
async def test_each_of_ten_thousand_ends_is_told_once() -> None:
    await races(10_000, 2)
