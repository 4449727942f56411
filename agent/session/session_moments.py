"""The moments of a session as a whole: it begins and ends, changes its model, shows a message.

Made only where somebody listens; a session that nobody listens to has none of this.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal, TypeAlias

from gatewright.agent.commands.outcome import Outcome, Problem, Submit
from gatewright.agent.commands.registry import Command
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    MessageRedrawn,
    TitleChanged,
)
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.messages import TextPart
from gatewright.agent.session.agent import Agent
from gatewright.agent.session.inbox import Input, Priority
from gatewright.tools.moments import (
    CommandExpands,
    MessageShown,
    ModelChange,
    Moments,
    SessionEnds,
    SessionStarts,
    SetUp,
)
from gatewright.tools.protocol import TextContent

END_LIMIT = 60.0  # seconds; those who want to know of the end keep to less by themselves
SHOWN_LIMIT = 1.5  # seconds that a session which ends waits for those who hear of its last message
Begun: TypeAlias = Literal["startup", "resume", "clear", "fork"]


class SessionMoments:
    """Asks those who listen; what they answer to the beginning waits for the next input."""

    def __init__(self, moments: Moments, main: Agent) -> None:
        self._moments = moments
        self._main = main
        self._title = ""
        self._again: asyncio.Task[None] | None = None
        self._showing: set[asyncio.Task[None]] = set()

    def saw(self, event: AnyEvent) -> None:
        """Every event of the main agent."""
        match event:
            case Cleared():
                before = self._again
                self._again = asyncio.create_task(self._anew(before), name="a session begins anew")
            case TitleChanged(title=title):
                self._title = title
            case AssistantMessage() if not event.cut:
                task = asyncio.create_task(self._shown(event), name="a message is shown")
                self._showing.add(task)
                task.add_done_callback(self._showing.discard)
            case _:
                pass

    async def began(self, source: Begun) -> None:
        """The first request waits for what others have to say."""
        models = self._main.models
        moment = SessionStarts(source=source, model=models.name, title=self._title)
        verdict = await self._moments.at(moment)
        self._main.advise(verdict)
        if verdict.input is not None:
            content = (TextContent(str(verdict.input["prompt"])),)
            self._main.runner.put(Input(new_id(), content, Priority.NOW, source="program"))

    async def settled(self) -> None:
        """Until those who were told of a beginning have answered."""
        if (task := self._again) is not None:
            await asyncio.wait([task])

    async def set_up(self, trigger: str) -> None:
        """The one-time work of a project, which somebody asked for."""
        self._main.advise(await self._moments.at(SetUp(trigger=trigger)))

    async def ends(self, reason: str) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(END_LIMIT):
                await self._moments.at(SessionEnds(reason=reason))
                if self._showing:  # what was said last is told of, too
                    await asyncio.wait(self._showing, timeout=SHOWN_LIMIT)

    async def close(self) -> None:
        """Nobody is waited for any more."""
        tasks = {*self._showing, *([self._again] if self._again is not None else [])}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def kept_from(self, before: str, name: str) -> str:
        """Why the model is not to be changed, where somebody says so."""
        if name == before:
            return ""
        verdict = await self._moments.at(ModelChange(before=before, after=name))
        refused = verdict.word in ("deny", "stop")
        return f"The model stays {before}. {verdict.text}".strip() if refused else ""

    async def expanded(self, line: str, command: Command | None, to: Submit) -> Outcome:
        """What a command line became, as it is sent to the model; or why it is not."""
        name, _, args = line.removeprefix("/").partition(" ")
        source = command.source if command is not None else ""
        moment = CommandExpands(name=name, args=args.strip(), source=source, text=to.text)
        verdict = await self._moments.at(moment)
        if verdict.word in ("deny", "stop"):
            return Problem.of(verdict.text or f"/{name} was refused.")
        self._main.advise(verdict)
        return to

    async def _anew(self, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        await self.ends("clear")
        await self.began("clear")

    async def _shown(self, message: AssistantMessage) -> None:
        said = "".join(part.text for part in message.parts if isinstance(part, TextPart))
        if not said:
            return
        moment = MessageShown(id=message.id, index=0, final=True, delta=said)
        verdict = await self._moments.at(moment)
        if verdict.output is not None and verdict.output != said:
            self._main.publish(MessageRedrawn(id=message.id, text=verdict.output))
