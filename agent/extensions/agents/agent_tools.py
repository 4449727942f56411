"""Plugs agents in: the tools that start them and write to them.

Nothing of what runs them is imported before one is started, or was in the session that goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gatewright.agent.agents.agent_specs import AGENT, SEND, TASK, agent_spec, send_spec
from gatewright.agent.agents.definitions.listing import listed
from gatewright.agent.extensions.agent_types.plugging import AgentTypes
from gatewright.agent.extensions.contribution import Contribution, part_of
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import AgentStarted, Envelope
from gatewright.agent.session.agent_calls import AgentControl
from gatewright.agent.session.start.base import Base
from gatewright.agent.session.writers import agents_before, agents_folder
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.protocol import Tool, ToolSpec
from gatewright.tools.system.patterns import later

if TYPE_CHECKING:
    from gatewright.agent.agents.life import Life
    from gatewright.agent.extensions.agents.agent_session import AgentSession

STOP_LIMIT = 5.0  # seconds
ASSUMED = 16_000  # tokens of a small window that nobody knows better
ID = later(r"a[0-9a-f]{12}")
NAMES = frozenset({AGENT.casefold(), TASK.casefold()})


class OfPlans(Protocol):
    """Agents that work for plans: they are in no list of the session."""

    def say(self, path: str, text: str) -> bool:
        """The person's words for it; False: it is none of them. Raises ToolFailure."""
        ...

    def life(self, path: str) -> Life | None: ...


class Agents(AgentControl):
    """A source of tools, and what a session has of agents; `session` is None before the first."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._types = part_of(host.brought, AgentTypes) or AgentTypes(host)
        self.session: AgentSession | None = None
        self.of_plans: OfPlans | None = None

    def opened(self) -> AgentSession:
        """The real thing, from now on; it may be asked for in a thread."""
        if self.session is None:
            from gatewright.agent.extensions.agents.agent_session import AgentSession  # noqa: PLC0415  lazy: 10 ms

            self.session = made = AgentSession(self._host, self._types, self._loop)
            self._host.awaited, self._host.asks = made.crew.awaited, made.crew.asks
        return self.session

    # what the person may do

    async def say(self, path: str, text: str) -> None:
        if self.of_plans is None or not self.of_plans.say(path, text):
            await self.opened().mail.from_person(path.rpartition("/")[2], text)

    async def stop(self, path: str) -> bool:
        life = self._life(path)
        if self.session is None or life is None:
            return False
        self.session.crew.stop(life, "person")
        with suppress(TimeoutError):  # what does not end is ended with the session
            async with asyncio.timeout(STOP_LIMIT):
                await life.gone.wait()
        return True

    def _life(self, path: str) -> Life | None:
        known = self.session.crew.lives.get(path) if self.session is not None else None
        if known is None and self.of_plans is not None:
            return self.of_plans.life(path)
        return known

    def stored(self, path: str) -> Path | None:
        if self.session is None:
            return None
        id = path.rpartition("/")[2]
        file = self.session.file(id)
        if file.exists() or not ID.fullmatch(id):
            return file
        of_runs = agents_folder(self._host.base).parent.glob(f"workflows/*/agents/{id}.jsonl")
        return next(of_runs, file)

    # a source of tools

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        return self.sized(ASSUMED if short else 0, short=short)

    def sized(self, window: int, *, short: bool = False) -> Sequence[ToolSpec]:
        kinds = self._types.offered()
        if not kinds:
            return ()
        listing = listed(kinds, window)
        around = self._host.around
        team = around.options.team or around.settings.agents.teams
        return agent_spec(kinds, listing, short=short), send_spec(short=short, team=team)

    def find(self, name: str) -> Tool[Any] | None:
        if name in (AGENT, SEND, TASK):
            return self.opened().tools[name]
        return None

    def saw(self, envelope: Envelope) -> None:
        if self.session is not None:
            self.session.saw(envelope)

    def lost(self) -> Mapping[str, str]:
        """By call: what is known of an agent that the end of the process before cut off."""
        return self.session.lost if self.session is not None else {}

    async def close(self) -> None:
        if self.session is not None:
            await self.session.crew.close()
            if self.session.copies is not None:
                await self.session.copies.settled()


async def plug_agents(host: Host) -> Contribution:
    agents = Agents(host)
    if _had_some(host.base):
        await agents.opened().recover()
    return Contribution(
        sources=(agents,),
        folds=(agents.saw,),
        agents=True,
        lost=agents.lost,
        parts=(agents,),
        close=(agents.close,),
    )


def _had_some(base: Base) -> bool:
    """Whether the session that goes on started agents; before its last boundary, too."""
    stored = base.start.stored
    if any(isinstance(envelope.event, AgentStarted) for envelope in stored):
        return True
    return bool(stored) and agents_before(base).is_dir()


def wanted(around: Surroundings) -> bool:
    """Not where the person named the tools and this is none of them, or no turn is ever run."""
    options = around.options
    return not options.served and (options.tools is None or _named(options.tools))


def _named(tools: Collection[str]) -> bool:
    return any(name.casefold() in NAMES for name in tools)


AGENTS = Extension(name="agents", plug=plug_agents, wanted=wanted)
