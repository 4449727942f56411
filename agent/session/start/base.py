"""What a session stands on before it is composed: surroundings, stored history, the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gatewright.agent.context.prompt.environment import git_branch
from gatewright.agent.models.opener import understood, wanted_model
from gatewright.agent.providers.catalog import load_catalog
from gatewright.agent.providers.keys.stored_keys import held_secrets
from gatewright.agent.record.agent_costs import AgentCosts
from gatewright.agent.record.clock import SystemClock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import (
    AnyEvent,
    Envelope,
    Noticed,
    QueueChanged,
    SessionStarted,
    TasksChanged,
    ToolFinished,
    UserMessage,
)
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import Fold, Journal, of_main
from gatewright.agent.record.messages import Usage
from gatewright.agent.record.session_state import Standing
from gatewright.agent.record.spending import Spending
from gatewright.agent.session.start.resume import Start, cold_notice, find_start
from gatewright.agent.session.waiting.turn_waits import TurnWaits
from gatewright.agent.settings import trust_question as trusting
from gatewright.agent.settings.layers.flag_values import effort_of
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import escaped
from gatewright.agent.text.redact import Redactor, share
from gatewright.agent.transcript.marks import CUT, JobsMark, TurnMark, left_by
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.turn.limits import Limits
from gatewright.agent.version import VERSION
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import INTERRUPTED, TextContent

CLOCK = SystemClock()
LEFT = (
    "This session goes on in a new process. The background work of the one before has ended with "
    "it, and no notice or output of it will come any more; start again what is still needed:\n{}"
)


class Notices:
    """What the person is told; while a session is put together it waits for the start, since who
    looks at this process alone begins to read there.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._early: list[Noticed] | None = []

    def say(self, notice: Noticed) -> None:
        if self._early is None:
            self._journal.publish(notice)
        else:
            self._early.append(notice)

    def begin(self) -> None:
        early, self._early = self._early, None
        for notice in early or ():
            self._journal.publish(notice)


class Base(msgspec.Struct, frozen=True):
    around: Surroundings
    start: Start
    journal: Journal
    talk: Conversation
    standing: Standing
    redactor: Redactor
    folds: tuple[Fold, ...]  # of what it is itself
    costs: AgentCosts
    notices: Notices
    cut: bool = False  # the process before this one did not end its last turn
    left: tuple[str, ...] = ()  # background work that ended with the process before

    @property
    def limits(self) -> Limits:
        settings = self.around.settings
        return Limits(
            settings.max_turns or 0,
            settings.max_budget_usd or 0.0,
            patience=settings.patience_minutes * 60.0,
            together=self.around.options.auto_continue,
        )

    def spending(self) -> Spending:
        """What was used so far, with what is stored."""
        spent = Spending()
        spent.restore(envelope.event for envelope in self.start.stored)
        return spent

    @property
    def model_name(self) -> str:
        return wanted_model(self.around, self.start.model)

    @property
    def effort(self) -> str:
        """Of the session as it was left, unless the command line says another."""
        return "" if effort_of(self.around.options) else self.start.effort

    def publish(self, event: AnyEvent) -> None:
        self.journal.publish(event)

    def mention(self, text: str) -> None:
        self.notices.say(Noticed(text=escaped(self.around.where.told(text)), tone="dim"))

    def warn(self, text: str) -> None:
        self.notices.say(Noticed(text=self.around.where.told(text), tone="warning"))


def open_base(around: Surroundings) -> Base:
    """The history so far, and the journal that goes on from there. Raises SessionError."""
    start = find_start(around.options, project_folder(around.places.home, around.where.cwd))
    standing, talk = start.standing(), Conversation()
    costs = AgentCosts.after(envelope.event for envelope in start.stored)

    waits = TurnWaits(CLOCK.monotonic)

    def stamped(event: AnyEvent, agent: str) -> AnyEvent:
        return costs.stamped(standing.stamped(waits.stamped(event, agent), agent), agent)

    journal = Journal(clock=CLOCK.time, new_id=new_id, stamp=stamped)
    for envelope in start.stored:
        talk.apply(envelope.event)
    journal.restore(start.stored)
    folds: tuple[Fold, ...] = (of_main(standing.apply),)
    cut, left = False, left_by(start.source) if start.source is not None else ()
    if not around.options.no_session:
        mark = TurnMark(start.path, agent=MAIN)
        folds, cut = (*folds, mark.saw, JobsMark(start.path).saw), mark.cut
    redactor = Redactor(around.env, around.secrets.knowing(held_secrets(around.env)))
    share(redactor)
    notices = Notices(journal)
    return Base(around, start, journal, talk, standing, redactor, folds, costs, notices, cut, left)


def announce(
    base: Base,
    mode: str,
    tools: Sequence[str],
    problems: Iterable[str],
    cut: Mapping[str, str],
    where: Where,
) -> None:
    """What a session begins with: the start itself, and whatever is wrong with what was loaded.

    Of calls that are `cut` off something is known; `where` is where the main agent works.
    """
    around, start = base.around, base.start
    base.publish(
        SessionStarted(
            model=base.model_name,
            mode=mode,
            cwd=str(where.cwd),
            app=VERSION,
            trusted=around.trusted,
            tools=tuple(tools),
            resumed=bool(start.stored),
            branch=git_branch(where.root),
        )
    )
    base.notices.begin()
    for call in base.talk.dangling():
        lost = (TextContent(cut.get(call.id, INTERRUPTED)),)
        ended = ToolFinished(call_id=call.id, ok=False, content=lost, summary="interrupted")
        base.publish(ended)
    if base.cut:
        base.warn(CUT)
    if base.left:
        text = LEFT.format("\n".join(base.left))
        base.publish(UserMessage(content=(TextContent(text),), hidden=True))
        base.publish(TasksChanged(running=()))
        base.mention(f"Ended with the session before: {', '.join(base.left)}")
    if waiting := unsent(start.stored):
        base.publish(QueueChanged(texts=()))
        texts = "\n".join(waiting)
        base.warn(f"Typed when the session ended, and not sent:\n{texts}")
    settings = [item.text() for item in around.loaded.problems if item.level != "untrusted"]
    told = (start.notice, _cold(base), around.search.notice(), trusting.notice(around))
    for text in (*told, *settings, *problems, *_offered(around)):
        if text:
            base.warn(escaped(text))


def _offered(around: Surroundings) -> tuple[str, ...]:
    """What another program left here that may be copied; most projects have nothing of it."""
    if not around.loaded.offered:
        return ()
    from gatewright.agent.settings.foreign.offers import offers  # noqa: PLC0415  lazy: 1 ms, rarely wanted

    return offers(around.loaded, around.places, interactive=around.interactive)


def unsent(stored: Sequence[Envelope]) -> tuple[str, ...]:
    """What waited in the queue when a session ended without taking it up."""
    for envelope in reversed(stored):
        if isinstance(envelope.event, QueueChanged):
            return envelope.event.texts
    return ()


def _cold(base: Base) -> str:
    """What going on with a large session costs that no prompt cache remembers."""
    if not (tokens := base.talk.tokens):
        return ""
    chosen = understood(base.around, base.model_name)
    price = 0.0
    if chosen is not None:
        facts = load_catalog().facts(chosen.provider, chosen.model)
        price = facts.cost(Usage(input=tokens))
    return cold_notice(base.start, tokens, price, CLOCK.time())
