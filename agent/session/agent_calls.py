"""What a front end asks of the agents below the one the person talks to.

They live, or have ended and left a file: what is asked of one is the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import Envelope, InputRefused
from gatewright.agent.record.hub import Subscription
from gatewright.agent.record.journal import Journal, ended
from gatewright.agent.session.agent import Agent
from gatewright.agent.session.children import Children
from gatewright.agent.session.writers import agent_file
from gatewright.tools.protocol import Content

UNKNOWN = "Nothing is known of an agent {path}."
ENDED = "The agent {path} has ended."
STAYED = "It cannot go on: {why}"


class AgentCalls:
    def __init__(
        self,
        agents: Mapping[str, Agent],
        children: Children,
        journal: Journal,
        stored: Path | None,
    ) -> None:
        self._agents = agents
        self._children = children
        self._journal = journal
        self._stored = stored  # the session's own file

    async def watch(self, agent: str) -> Subscription:
        """What it did and does; its stored events once it has ended. Raises SessionError."""
        if agent in self._agents:
            return self._journal.hub(agent).subscribe()
        file = agent_file(self._stored, agent) if self._stored is not None else None
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
        """A message of the person for it."""
        if (living := self._agents.get(agent)) is not None:
            return living.submit(text, attachments, typed=typed, id=id)
        self._journal.publish(InputRefused(text=text, reason=ENDED.format(path=agent)))
        return id

    async def stop(self, agent: str) -> Outcome:
        """End it and all below it."""
        if (run := self._children.run(agent)) is None:
            return Problem.of(ENDED.format(path=agent))
        await run.close()
        return Say(())

    async def resume(self, agent: str) -> Outcome:
        """Let one that has ended go on where it was."""
        return Problem.of(STAYED.format(why=ENDED.format(path=agent)))


def _read(file: Path) -> Sequence[Envelope]:
    from gatewright.agent.transcript.reader import read_transcript  # noqa: PLC0415  of ended ones

    return read_transcript(file).branch
