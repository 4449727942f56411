"""Auto mode of one session: who judges, what is known here, what it costs, and what is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import merge

from gatewright.agent.auto.account import SILENT, Account, remember
from gatewright.agent.auto.classifier import Classifier, Ports
from gatewright.agent.auto.judge import Judge
from gatewright.agent.auto.known import Known
from gatewright.agent.auto.lists import in_force
from gatewright.agent.auto.request import Instructions, standing
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.models.judges import judge_for
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.record.events import (
    AgentFinished,
    AgentStarted,
    AnyEvent,
    AttemptPaid,
    AutoChanged,
    CheckStarted,
    Cleared,
    Decided,
    Envelope,
    Rewound,
    ToolFinished,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.journal import Journal
from gatewright.agent.record.messages import Usage
from gatewright.agent.settings.groups.auto_settings import AutoMode
from gatewright.agent.settings.workspace import Surroundings
from gatewright.permissions.rulebook.tools_table import row
from gatewright.tools.access import MAIN, Access
from gatewright.tools.classify import Opinion, Pending
from gatewright.tools.moments import CallEnded, Moment, Verdict
from gatewright.tools.protocol import JsonObject, TextContent

BY = "auto mode"  # what its requests are called where costs are listed


class AutoSession:
    """`words` are what the person said since the session began, or was cleared; `remotes` what a
    judge is told of the repository's.
    """

    def __init__(
        self,
        host: Host,
        words: Sequence[Envelope],
        remotes: JsonObject,
        judges: Callable[[Host], bool],
    ) -> None:
        self._host = host
        self._judges = judges  # whether calls of the session are judged as it stands
        self._settings = host.around.settings.auto_mode
        self._judge: Judge | None = None
        self._children: dict[str, str] = {}  # agents by the calls that started them
        self._acting: dict[str, None] = {}  # calls that run, and may change something
        self._reviews: set[asyncio.Task[None]] = set()
        self._opening = asyncio.Lock()
        self.account = Account(_family)
        for envelope in so_far(host.journal, words):
            self.account.saw(envelope)
            if isinstance(envelope.event, AgentStarted):
                self._children[envelope.event.call_id] = envelope.event.child
        self._known = Known(
            remotes,
            host.briefing.readable,
            time.time(),
            host.changes.known,
            self.account.words,
            lambda: [each.text for each in in_force(host.around.settings.auto_mode).environment],
        )
        self.classifier = Classifier(
            self.account,
            Ports(
                judge=self._opened,
                known=self._facts,
                checking=lambda call, agent: host.journal.publish(
                    CheckStarted(call_id=call), agent
                ),
                changed=self._changed,
                alone=lambda: not host.policy.interactive,
            ),
        )
        host.live.listen(self._settled)

    async def classify(self, pending: Pending) -> Opinion:
        return await self.classifier(pending)

    def saw(self, envelope: Envelope) -> None:
        classifier, event = self.classifier, envelope.event
        if envelope.agent == MAIN and isinstance(event, Rewound):
            self.account.renew(self._host.journal.hub().kept())
        else:
            self.account.saw(envelope)
        if envelope.agent == MAIN:
            self._talked(event)
        match event:
            case Decided(behavior="allow"):
                if event.answer in ("once", "always"):
                    paused = classifier.refusals.paused
                    classifier.refusals.approved(envelope.agent)
                    if paused:
                        self._changed()
                if row(event.tool).family not in SILENT:
                    classifier.reuse.acted(event.call_id)
                    remember(self._acting, event.call_id, None)
            case ToolFinished(call_id=id) if id in self._acting:
                self._acting.pop(id, None)
                classifier.reuse.acted(id)  # again: something may have been judged while it ran
            case AgentStarted(call_id=id, child=child) if id:
                self._children[id] = child
            case AgentFinished(child=child, background=True) if self._concerns(child):
                self._look_behind(child, envelope.agent)
            case _:
                pass

    def _talked(self, event: AnyEvent) -> None:
        """What the person says, or takes back, ends what was judged before."""
        match event:
            case Cleared() | Rewound() | UserMessage(hidden=False, source=""):
                self.classifier.reuse.spoken()
            case TurnEnded():
                self.classifier.reuse.acted("")
            case _:
                pass

    def _concerns(self, child: str) -> bool:
        return self._judges(self._host) or self.account.judged(child)

    async def at(self, moment: Moment) -> Verdict:
        """An agent's report is the result of the call that started it: a warning goes before it."""
        child = self._children.pop(moment.call.id, "") if isinstance(moment, CallEnded) else ""
        if not isinstance(moment, CallEnded) or not child or not self._concerns(child):
            return Verdict()
        warning = await self.classifier.reviewed(child)
        if not warning:
            return Verdict()
        parts = [part.text for part in moment.result.content if isinstance(part, TextContent)]
        return Verdict(output="\n\n".join((warning, *parts)), notice=warning)

    def _look_behind(self, child: str, owner: str) -> None:
        """Nobody waits for its report: the warning comes as a notice of its own."""

        async def look() -> None:
            if warning := await self.classifier.reviewed(child):
                name = child.rpartition("/")[2]
                self._host.session.tell(f"About agent {name}: {warning}", wakes=False)

        del owner  # whoever started it, the main agent is told: it answers for all of them
        task = asyncio.get_running_loop().create_task(look(), name="review of an agent")
        self._reviews.add(task)
        task.add_done_callback(self._reviews.discard)

    def entered(self) -> None:
        self.classifier.refusals.clear()
        self._changed()

    async def _opened(self) -> Judge:
        async with self._opening:
            if self._judge is None:
                settings = self._settings
                judge = await asyncio.to_thread(self._open, settings)
                if self._settings != settings:  # meanwhile
                    judge.goes_by(self._standing(self._settings), self._settings.stages)
                self._judge = judge
            return self._judge

    def _open(self, settings: AutoMode) -> Judge:
        """Its own connection: it never waits behind requests of agents."""
        around = self._host.around
        found = judge_for(around, self._host.base.model_name)
        if found.lack:
            raise GatewrightError(found.lack)
        opened = open_provider(found.model, settings=around.providers, env=around.env)
        return Judge(opened, self._standing(settings), stages=settings.stages, paid=self._paid)

    def _standing(self, settings: AutoMode) -> tuple[str, ...]:
        return standing(in_force(settings), self._instructions())

    def _settled(self, around: Surroundings) -> None:
        """What the person writes down counts from the next call on, and may turn a no around."""
        before, self._settings = self._settings, around.settings.auto_mode
        if self._settings == before:
            return
        self.classifier.reuse.spoken()
        if self._judge is not None:
            self._judge.goes_by(self._standing(self._settings), self._settings.stages)

    def _instructions(self) -> Iterable[Instructions]:
        book = part_of(self._host.brought, MemoryBook)
        files = book.now().files if book is not None else ()
        shown = self._host.around.where.shown
        return [Instructions(shown(file.path), file.text) for file in files]

    def _facts(self, access: Access, facts: Mapping[str, object]) -> JsonObject:
        return self._known.facts(access, facts)

    def _paid(self, model: str, usage: Usage, cost: float) -> None:
        self._host.publish(AttemptPaid(model=model, usage=usage, cost=cost, by=BY))

    def _changed(self) -> None:
        """Not from within a publish: everybody shall see the events in one order."""
        classifier, paused = self.classifier, self.classifier.refusals.paused
        event = AutoChanged(state="down" if classifier.breaker.down else "paused" if paused else "")
        asyncio.get_running_loop().call_soon(self._host.publish, event)

    async def close(self) -> None:
        for task in self._reviews:
            task.cancel()
        await asyncio.gather(*self._reviews, return_exceptions=True)
        if self._judge is not None:
            await self._judge.close()


def so_far(journal: Journal, words: Sequence[Envelope]) -> list[Envelope]:
    """What happened, as far as the journal remembers: of the session, of the agents that work, and
    the words that went before it.
    """
    main = journal.hub().kept()
    known = {each.uuid for each in main}
    found = [[*(each for each in words if each.uuid not in known), *main]]
    agents = [MAIN]
    for agent in agents:  # grows by those it started
        kept = journal.hub(agent).kept()
        if agent != MAIN:
            found.append(list(kept))
        begun = [each.event.child for each in kept if isinstance(each.event, AgentStarted)]
        agents += [child for child in begun if journal.knows(child)]
    return list(merge(*found, key=lambda each: each.timestamp))


def _family(tool: str) -> str:
    return row(tool).family
