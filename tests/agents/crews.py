"""A crew over a session of real parts with a scripted model: for lives, notices and races."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from gatewright.agent.agents.crew import Crew, CrewLimits, CrewPorts, Opened
from gatewright.agent.agents.definitions.builtin import builtin_kinds
from gatewright.agent.agents.life import Life, Order
from gatewright.agent.agents.roster import Member
from gatewright.agent.agents.send_message import Mail
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.clock import SystemClock
from gatewright.agent.record.events import AgentFinished, AgentStarted, Envelope, UserMessage
from gatewright.agent.session.children import AgentSpec
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import TextContent
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import House, house
from tests.fakes.scripted_provider import ScriptedProvider, read_script

WHERE = Where(Path("/project"), Path("/project"), Path("/home/somebody"))
GENERAL = next(kind for kind in builtin_kinds() if kind.name == "general-purpose")
MANY = CrewLimits(in_session=1_000_000)
NOWHERE = Path("/nonexistent/reports")


@dataclass
class Team:
    """What a test looks at; `provider` answers for every agent."""

    house: House
    provider: ScriptedProvider
    model: OpenModel
    envelopes: list[Envelope] = field(default_factory=list[Envelope])
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    made: dict[str, Crew] = field(default_factory=dict[str, Crew])

    @property
    def crew(self) -> Crew:
        return self.made["crew"]

    def new_id(self) -> str:
        return f"a{next(self.numbers):012x}"

    def start(self, prompt: str = "work", *, attended: bool = False, **more: Any) -> Life:
        usual = Order(
            id=self.crew.new_id(),
            owner=MAIN,
            parent=MAIN,
            kind=GENERAL,
            prompt=prompt,
            where=WHERE,
            description=prompt,
            background=not attended,
        )
        return self.crew.start(replace(usual, **more), attended=attended)

    async def order(self, member: Member, owner: str, prompt: str) -> Order:
        """To go on: what was said so far is still at hand."""
        stored = [one for one in self.envelopes if one.agent == member.path and one.event.durable]
        return Order(
            id=member.id,
            owner=owner,
            parent=member.path.rpartition("/")[0],
            kind=GENERAL,
            prompt=prompt,
            where=WHERE,
            name=member.name,
            background=True,
            stored=tuple(stored),
        )

    def freer(self, path: str, than: str) -> bool:
        """All may do the same here."""
        del path, than
        return False

    def heeds(self, path: str, sender: str) -> None:
        """Nobody is bound here."""
        del path, sender

    async def prepared(self, life: Life) -> Opened:
        order = life.order
        spec = AgentSpec(
            name=order.id,
            kind=order.kind.name,
            prompt=order.prompt,
            source=order.source,
            parent=order.parent,
            where=order.where,
            model=lambda: self.model,
            stored=order.stored,
            announced=True,
        )
        return Opened(spec)

    def mail(self) -> Mail:
        session = self.house.session
        return Mail(self.crew, self, lambda text, source: session.tell(text, source=source))

    def of_main(self) -> list[Any]:
        return [one.event for one in self.envelopes if one.agent == MAIN]

    def notices(self, id: str) -> list[str]:
        """What the main agent's model was told of that agent by itself."""
        hidden = [e for e in self.of_main() if isinstance(e, UserMessage) and e.hidden]
        parts = [part.text for e in hidden for part in e.content if isinstance(part, TextContent)]
        return [text for text in parts if text.startswith(f"Agent {id}")]

    def ends(self, path: str) -> list[AgentFinished]:
        return [e for e in self.of_main() if isinstance(e, AgentFinished) and e.child == path]

    def starts(self, path: str) -> list[AgentStarted]:
        return [e for e in self.of_main() if isinstance(e, AgentStarted) and e.child == path]


async def kept(agent: str) -> None:
    """Nothing is stored here."""
    del agent


@asynccontextmanager
async def team(
    script: str = "say: done",
    *,
    limits: CrewLimits = MANY,
    reports: Path = NOWHERE,
    executor: FakeExecutor | None = None,
) -> AsyncGenerator[Team]:
    """The main agent has spoken once; from then on each answer is the script's, the last again."""
    async with house("say: hi\n---\nsay: heard\n", executor=executor) as made:
        made.session.submit("hello")
        await made.session.idle()
        main = made.session.agent(MAIN)
        assert main is not None
        assert main.models.current is not None
        provider = ScriptedProvider(read_script(script), repeat=True)
        model = msgspec.structs.replace(main.models.current, provider=provider)
        main.models.current = msgspec.structs.replace(
            main.models.current, provider=ScriptedProvider.parse("say: heard", repeat=True)
        )
        built = Team(made, provider, model)
        ports = CrewPorts(
            journal=made.journal,
            clock=SystemClock(),
            loop=asyncio.get_running_loop(),
            jobs=made.session.jobs_of,
            spawn=made.session.spawn,
            opened=built.prepared,
            kept=kept,
            limits=lambda: limits,
            new_id=built.new_id,
            reports=reports,
        )
        crew = built.made["crew"] = Crew(ports)
        made.journal.follow(crew.saw, built.envelopes.append)
        try:
            yield built
        finally:
            await crew.close()
