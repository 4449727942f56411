"""Auto mode of one session: who judges, what is known here, what it costs, and what is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping

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
from gatewright.agent.record.messages import Usage
from gatewright.permissions.rulebook.tools_table import row
from gatewright.tools.access import MAIN, Access
from gatewright.tools.classify import Opinion, Pending
from gatewright.tools.moments import CallEnded, Moment, Verdict
from gatewright.tools.protocol import JsonObject, TextContent

BY = "auto mode"  # what its requests are called where costs are listed


class AutoSession:
    def __init__(self, host: Host, past: Iterable[Envelope]) -> None:
        self._host = host
        self._judge: Judge | None = None
        self._children: dict[str, str] = {}  # agents by the calls that started them
        self._acting: dict[str, None] = {}  # calls that run, and may change something
        self._reviews: set[asyncio.Task[None]] = set()
        self._opening = asyncio.Lock()
        self.account = Account(_family)
        for envelope in past:
            self.account.saw(envelope)
            if isinstance(envelope.event, AgentStarted):
                self._children[envelope.event.call_id] = envelope.event.child
        self._known = Known(
            host.begins.root,
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
                paid=self._paid,
                checking=lambda call, agent: host.journal.publish(
                    CheckStarted(call_id=call), agent
                ),
                changed=self._changed,
                alone=lambda: not host.policy.interactive,
            ),
        )

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
            case AgentFinished(child=child, background=True) if self._active():
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

    def _active(self) -> bool:
        return self._host.policy.current() == "auto"

    async def at(self, moment: Moment) -> Verdict:
        """An agent's report is the result of the call that started it: a warning goes before it."""
        if not isinstance(moment, CallEnded) or not self._active():
            return Verdict()
        child = self._children.pop(moment.call.id, "")
        warning = await self.classifier.reviewed(child) if child else ""
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
                self._judge = await asyncio.to_thread(self._open)
            return self._judge

    def _open(self) -> Judge:
        """Its own connection: it never waits behind requests of agents."""
        around = self._host.around
        found = judge_for(around, self._host.base.model_name)
        if found.lack:
            raise GatewrightError(found.lack)
        opened = open_provider(found.model, settings=around.providers, env=around.env)
        settings = around.settings.auto_mode
        system = standing(in_force(settings), self._instructions())
        return Judge(opened, system, stages=settings.stages)

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


def _family(tool: str) -> str:
    return row(tool).family
