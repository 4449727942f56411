"""The hooks that a session started here would have, without a session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from gatewright.agent.extensions.hook_ground import environment, ground, poster
from gatewright.agent.hooks.answered.merging import Ran
from gatewright.agent.hooks.configured.book import Book, Terms, book_of
from gatewright.agent.hooks.engine import Engine, EnginePorts
from gatewright.agent.hooks.events import EVENTS
from gatewright.agent.hooks.handlers import Fault, Handler
from gatewright.agent.hooks.kinds.commands import Commands
from gatewright.agent.hooks.kinds.running import Firing, Output, Ports
from gatewright.agent.hooks.shown.checks import troubles
from gatewright.agent.hooks.shown.rows import HookRow, Seen, rows_of
from gatewright.agent.hooks.shown.trial import Trial, firing_of, sample, tried
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.subcommands.questions.judging import Judge
from gatewright.permissions.condition import problem_of
from gatewright.tools.system.processes import spawn


def book_here(loaded: Loaded, *, trusted: bool) -> Book:
    terms = Terms.of(loaded.settings, trusted=trusted, bare=False)
    return book_of(loaded.hooks, (), terms, problem_of)


class HooksHere:
    def __init__(self) -> None:
        self._judge = Judge()
        self.around: Surroundings = self._judge.around
        around = self.around
        self.book = book_here(around.loaded, trusted=around.trusted)
        self._commands = Commands(self._ports())
        self._engine = Engine(
            EnginePorts(
                kinds={
                    "command": self._commands.run,
                    "http": poster(lambda: around).run,
                    "prompt": _in_a_session,
                    "agent": _in_a_session,
                    "mcp_tool": _of_a_server,
                },
                applies=self._judge.is_about,
                publish=_nobody,
                tell=_nobody,
                ready=_ready,
            ),
            self.book,
        )

    def _ports(self) -> Ports:
        around = self.around

        def env(scrubbed: bool) -> Mapping[str, str]:
            return environment(around, scrubbed=scrubbed)

        return Ports(spawn=spawn, env=env, root=around.where.cwd, session="test")

    def found(self) -> list[tuple[HookRow, Fault]]:
        """What would keep handlers from running."""
        where = ground(self.around, self._engine.kinds)
        wrong = {each.key: fault for each, fault in troubles(self.book.handlers, where)}
        rows = rows_of(self.book, Seen(troubles=wrong))
        return [(row, wrong[row.handler.key]) for row in rows if row.handler.key in wrong]

    def rows(self) -> list[HookRow]:
        wrong = {row.handler.key: fault for row, fault in self.found()}
        return rows_of(self.book, Seen(troubles=wrong))

    def problems(self) -> Iterator[tuple[Fault, bool]]:
        """What is wrong with what is configured; whether it runs all the same."""
        told: set[str] = set()
        for fault in (*self.book.faults, *(fault for _, fault in self.found())):
            if fault.text() not in told:
                told.add(fault.text())
                yield fault, fault.warning

    def trial(self, event: str, value: str, given: dict[str, Any] | None) -> Trial:
        cwd, row = self.around.where.cwd, EVENTS[event]
        input = {**sample(event, cwd, value), **(given or {})}
        access = None
        if row.tool:
            access = self._judge.access(str(input["tool_name"]), input.get("tool_input") or {})
        return tried(self._engine, firing_of(event, input, cwd, access))

    def run(self, trial: Trial) -> list[Ran]:
        return asyncio.run(self._run(trial))

    async def _run(self, trial: Trial) -> list[Ran]:
        try:
            runs = (self._engine.tried(each, trial.firing) for each in trial.wanted)
            return list(await asyncio.gather(*runs))
        finally:
            await self._engine.close()
            await self._commands.close()


async def _in_a_session(handler: Handler, firing: Firing) -> Output:
    del handler, firing
    return Output(failure="it asks a model, which a session does: /hooks tries it there")


async def _of_a_server(handler: Handler, firing: Firing) -> Output:
    del handler, firing
    return Output(failure="it calls a server, which a session does: /hooks tries it there")


def _nobody(*told: object) -> None:
    """Nobody listens here."""
    del told


async def _ready() -> None:
    """There is no transcript to write first."""
