"""Turns in another program without a session: its process, real tools, and everything told."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gatewright.agent.foreign.files import Files
from gatewright.agent.foreign.foreign_turns import ForeignTurns, Patience, Ports
from gatewright.agent.record.clock import SystemClock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.record.messages import TextPart
from gatewright.agent.turn.batch_ports import BatchPorts
from gatewright.agent.turn.budget import Limiting
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.turns import Ground
from gatewright.tools.files.disk import DISK
from gatewright.tools.files.fs import decode
from gatewright.tools.protocol import Child, SpawnRequest, TextContent, ToolContext
from gatewright.tools.system.processes import spawn
from tests.fakes.executor import FakeExecutor
from tests.fakes.toolbox import Toolbox
from tests.fakes.waiting import PATIENCE, eventually

PROGRAM = Path(__file__).parent / "scripted_agent.py"
E = TypeVar("E", bound=AnyEvent)
LONG = Patience(greeting=PATIENCE, silence=PATIENCE, stopping=PATIENCE)
SHORT = Patience(greeting=PATIENCE, silence=PATIENCE, stopping=0.05)


class Alone:
    """`said` is what waits to be taken up during a turn."""

    def __init__(self, folder: Path, *, patience: Patience, fake: FakeExecutor | None) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.root.mkdir(exist_ok=True)
        self.box = Toolbox(self.root)
        self.events: list[AnyEvent] = []
        self.said: list[str] = []
        self.pids: list[int] = []
        self.limits, self.budgets = Limits(), list[Limiting]()
        self._executor = fake or self.box.executor
        self._patience = patience
        self._news = asyncio.Event()
        self.talk = Conversation()

    def opened(self) -> ForeignTurns:
        ground = Ground(
            agent="main/a1",
            talk=self.talk,
            emit=self.emit,
            tools=lambda: BatchPorts(
                self._executor, self.context, self.emit, SystemClock(), lambda _: 0.0
            ),
            inputs=self._inputs,
            barrier=self._on_disk,
            where=lambda: self.box.ctx.where,
            clock=SystemClock(),
            limits=self.limits,
            budgets=self.budgets,
        )
        ports = Ports(
            kind="other",
            program="other",
            opening="You work for us.",
            start=self._start,
            files=Files(DISK, lambda data: decode(data).text),
            patience=self._patience,
        )
        return ForeignTurns(ground, ports)

    def context(self, call_id: str) -> ToolContext:
        return msgspec.structs.replace(self.box.ctx, call_id=call_id)

    def emit(self, event: AnyEvent) -> None:
        self.events.append(event)
        self.talk.apply(event)
        self._news.set()

    async def _inputs(self) -> bool:
        taken, self.said = self.said, []
        for text in taken:
            self.emit(UserMessage(content=(TextContent(text),)))
        return bool(taken)

    async def _on_disk(self) -> None:
        """Nothing is kept here."""

    async def _start(self, stdin: int, errors: int) -> Child:
        request = SpawnRequest(
            argv=(sys.executable, "-I", "-S", str(PROGRAM), str(self.folder / "story.json")),
            cwd=self.root,
            env={"PATH": os.environ["PATH"]},
            stdin=stdin,
            errors=errors,
        )
        child = await spawn(request)
        self.pids.append(child.pid)
        return child

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, fact: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not fact():
                self._news.clear()
                await self._news.wait()

    @property
    def words(self) -> str:
        """All that it said in the conversation."""
        return "".join(
            part.text
            for event in self.of(AssistantMessage)
            for part in event.parts
            if isinstance(part, TextPart)
        )

    def report(self) -> Any:
        return json.loads(self.words)

    def end(self) -> TurnEnded:
        """Of the last turn, after a look that each began and ended once, with all its calls."""
        ends = self.of(TurnEnded)
        assert len(ends) == len(self.of(TurnStarted))
        assert not self.talk.dangling()
        return ends[-1]

    async def gone(self) -> None:
        """No process of it is left."""
        await eventually(lambda: not any(map(lives, self.pids)), what="the end of its process")


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Made:
    """Turns that play a story, and what came of them."""

    def __init__(self, alone: Alone, turns: ForeignTurns) -> None:
        self.alone, self.turns = alone, turns

    async def turn(self, text: str = "do it") -> Stop:
        self.alone.emit(UserMessage(content=(TextContent(text),)))
        async with asyncio.timeout(PATIENCE * 2):
            return await (await self.turns.ready())()


@asynccontextmanager
async def played(
    folder: Path,
    prompts: Sequence[Sequence[dict[str, Any]]] = (),
    *,
    start: dict[str, Any] | None = None,
    patience: Patience = LONG,
    fake: FakeExecutor | None = None,
    setup: Callable[[Alone], None] = lambda alone: None,
) -> AsyncGenerator[Made]:
    story = {"prompts": prompts, "start": start or {}}
    (folder / "story.json").write_text(json.dumps(story), encoding="utf-8")
    alone = Alone(folder, patience=patience, fake=fake)
    setup(alone)
    turns = alone.opened()
    try:
        yield Made(alone, turns)
    finally:
        await turns.close()
        await alone.gone()


__all__ = ["Alone", "Made", "Patience", "ToolFinished", "lives", "played"]
