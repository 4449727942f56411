"""What a front end asks of the agents below the one the person talks to.

They live, or have ended and left a file: what is asked of one is the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import Envelope, InputRefused
from gatewright.agent.record.hub import Subscription
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import ended
from gatewright.agent.session.agent import Agent
from gatewright.agent.session.children import Children
from gatewright.agent.session.frame import Frame
from gatewright.agent.session.writers import agent_file
from gatewright.tools.protocol import Content, TextContent, ToolFailure

UNKNOWN = "Nothing is known of an agent {path}."
ENDED = "The agent {path} has ended."
PICTURES = "Only text can be sent to an agent that does not work just now."
GO_ON = "Go on where you were stopped."


class AgentControl:
    """What an extension that runs agents lets the person do; a part of what it brings.

    Every path is that of an agent that lives or has ended in this session.
    """

    async def say(self, path: str, text: str) -> None:
        """The person's words; one that had ended goes on with them. Raises ToolFailure."""
        raise NotImplementedError

    def stored(self, path: str) -> Path | None:
        """Where is written what it said, as far as is known."""
        raise NotImplementedError

    async def stop(self, path: str) -> bool:
        """End it and all below it as the person wants it; False: it does not live."""
        raise NotImplementedError


class AgentCalls:
    """`control` is there where an extension runs agents; without it one that ended stays so."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        children: Children,
        frame: Frame,
        control: Callable[[], AgentControl | None],
    ) -> None:
        self._agents = agents
        self._children = children
        self._journal = frame.journal
        # the session's own file
        self._stored = frame.writer.path if frame.writer is not None else None
        self._control = control
        self._saying: set[asyncio.Task[None]] = set()

    async def watch(self, agent: str) -> Subscription:
        """What it did and does; its stored events once it has ended. Raises SessionError."""
        if agent in self._agents:
            return self._journal.hub(agent).subscribe(streamed=True)
        control = self._control()
        file = control.stored(agent) if control is not None else None
        if file is None and self._stored is not None:
            file = agent_file(self._stored, agent)
        if file is None or not file.exists():
            raise SessionError(UNKNOWN.format(path=agent))
        return ended(await asyncio.to_thread(_read, file))

    def say(
        self,
        agent: str,
        text: str,
        attachments: tuple[Content, ...],
        *,
        typed: str | None,
        id: str,
    ) -> str:
        """A message of the person for it; one that had ended goes on with it."""
        id, living, control = id or new_id(), self._agents.get(agent), self._control()
        if living is not None and (attachments or control is None):
            return living.submit(text, attachments, typed=typed, id=id)
        texts = [part.text for part in attachments if isinstance(part, TextContent)]
        if control is None:
            self._refuse(text, ENDED.format(path=agent))
        elif len(texts) < len(attachments):
            self._refuse(text, PICTURES)
        else:
            words = "\n".join([*texts, text])
            task = asyncio.create_task(self._told(control, agent, words), name=f"for {agent}")
            self._saying.add(task)
            task.add_done_callback(self._saying.discard)
        return id

    async def stop(self, agent: str) -> Outcome:
        """End it and all below it."""
        control = self._control()
        if control is not None and await control.stop(agent):
            return Say(())
        if (run := self._children.run(agent)) is None:
            return Problem.of(ENDED.format(path=agent))
        await run.close()
        return Say(())

    async def resume(self, agent: str) -> Outcome:
        """Let one that has ended go on where it was."""
        if agent in self._agents:
            return Problem.of(f"The agent {agent} works.")
        if (control := self._control()) is None:
            return Problem.of(ENDED.format(path=agent))
        try:
            await control.say(agent, GO_ON)
        except ToolFailure as error:
            return Problem.of(str(error))
        return Say(())

    async def _told(self, control: AgentControl, agent: str, text: str) -> None:
        try:
            await control.say(agent, text)
        except ToolFailure as error:
            self._refuse(text, str(error))

    def _refuse(self, text: str, reason: str) -> None:
        self._journal.publish(InputRefused(text=text, reason=reason))


def _read(file: Path) -> Sequence[Envelope]:
    from gatewright.agent.transcript.reader import read_transcript  # noqa: PLC0415  of ended ones

    return read_transcript(file).branch
