"""Everything around the pure decision: hooks before it, a person or nobody after it.

Prompts are shown one at a time in the order they arose; a queued one is decided again when its
turn comes, so an "always" or a mode change settles what it covers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from gatewright.permissions.context import Call, Context, HookWord
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import (
    Allow,
    Ask,
    DecisionRecord,
    Deny,
    Grant,
    Named,
    Reason,
    Stage,
)
from gatewright.permissions.policy import Policy
from gatewright.permissions.recent import Judged
from gatewright.permissions.rulebook.grants import (
    options_for,
    question,
    refusal,
    repeated,
    with_kept,
)
from gatewright.permissions.sandbox.port import CLOSED, Commands, Offer, Opening
from gatewright.permissions.world import (
    Dirty,
    DiskResolver,
    Keeps,
    Lookup,
    fetch_missing,
    git_dirty,
    git_keeps,
    lookup_host,
)
from gatewright.tools.access import MAIN, Access, Where
from gatewright.tools.calls import Facts, Foreseen, Prepared
from gatewright.tools.interact import Answer
from gatewright.tools.interact import Ask as Question
from gatewright.tools.protocol import Asker, ToolCall, ToolResult

MAX_ROUNDS = 3
DENIALS_BEFORE_HINT = 3


@dataclass(frozen=True, slots=True)
class HookVerdict:
    """What the hooks before a tool call said; `input` replaces the call's input once."""

    word: HookWord = ""
    text: str = ""
    input: Mapping[str, object] | None = None


class BeforeTool(Protocol):
    async def __call__(self, call: ToolCall, where: Where) -> HookVerdict: ...


# Keeps what the call is about to change; True: uncommitted work is about to be thrown away.
Saving: TypeAlias = Callable[[Access, bool], Awaitable[None]]
Persist: TypeAlias = Callable[[tuple[str, ...]], Awaitable[None]]


# What the call would change as things are now, or why it cannot succeed.
Foresee: TypeAlias = Callable[[], Awaitable[Foreseen]]


async def _nothing_foreseen() -> Foreseen:
    return Foreseen()


async def _no_barrier() -> None:
    return None


async def _save_nothing(access: Access, losing: bool) -> None:
    del access, losing


def _ignore(_: object) -> None:
    return None


@dataclass(frozen=True, slots=True)
class GatePorts:
    """What the gate needs from its surroundings. Only `record` is always wanted."""

    record: Callable[[DecisionRecord], None] = _ignore
    barrier: Callable[[], Awaitable[None]] = _no_barrier
    saving: Saving = _save_nothing
    clock: Callable[[], float] = time.monotonic
    persist: Persist | None = None
    place: str = "this session"  # where an "always" is stored, as the prompt names it
    before_tool: BeforeTool | None = None
    mode_changed: Callable[[str], None] = _ignore
    lookup: Lookup = lookup_host
    dirty: Dirty = git_dirty
    keeps: Keeps = git_keeps
    sandbox: Commands | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """The call may run, with exactly this input; a person may have opened files to it."""

    call: ToolCall
    opening: Opening = CLOSED


@dataclass(frozen=True, slots=True)
class Refused:
    """The call does not run; `ends_turn` when a person said a plain no."""

    message: str
    ends_turn: bool = False
    told: bool = False  # the person wrote something: that text is the result


@dataclass(frozen=True, slots=True)
class Hopeless:
    """The call could not succeed, so nobody was asked."""

    result: ToolResult


Outcome: TypeAlias = Passed | Refused | Hopeless


@dataclass(frozen=True, slots=True)
class Request:
    """One call on its way through the gate."""

    prepared: Prepared
    where: Where
    ask: Asker
    agent: str = MAIN
    hook: HookVerdict = HookVerdict()
    foreseen: Foresee = _nothing_foreseen  # asked only when a person is
    real: Mapping[str, str] = field(default_factory=dict[str, str])  # where its paths lead

    @property
    def call(self) -> ToolCall:
        return self.prepared.call

    @property
    def facts(self) -> Facts:
        return self.prepared.facts


class Gate:
    """Authorises calls for one session."""

    def __init__(self, policy: Policy, ports: GatePorts) -> None:
        self._policy = policy
        self._ports = ports
        self._queue = asyncio.Lock()
        self._denials: dict[str, int] = {}
        self._switched = asyncio.Event()  # the mode is another one while a question stands
        policy.watch(lambda _: self._switched.set())

    async def hook(self, call: ToolCall, where: Where) -> HookVerdict:
        if self._ports.before_tool is None:
            return HookVerdict()
        return await self._ports.before_tool(call, where)

    async def authorize(self, request: Request) -> Outcome:
        """Decide, ask if need be, record how it ended."""
        started = self._ports.clock()
        judged = await self._decide(request)
        answer = ""
        outcome: Outcome
        if isinstance(judged.decision, Ask):
            async with self._queue:
                put = None
                while put is None:  # under another mode it is another question, or none
                    judged = await self._decide(request)
                    if isinstance(judged.decision, Ask):
                        put = await self._put(request, judged.decision)
                    else:
                        put = self._settled(request, judged.decision), ""
                outcome, answer = put
        else:
            outcome = self._settled(request, judged.decision)
        if not isinstance(outcome, Hopeless):  # it fails, as if it had run: nothing was decided
            self._note(request, judged, outcome, (answer, started))
        return outcome

    async def hopeless(self, request: Request) -> ToolResult | None:
        """How the call would fail; nothing is looked at for one that is denied anyway."""
        if not request.facts.access.writes or request.facts.access.runs is not None:
            return None
        if isinstance((await self._decide(request)).decision, Deny):
            return None
        return (await request.foreseen()).failed

    async def changed(self, request: Request) -> Outcome:
        """Judge the input that who answered put in place of the asked one.

        They have said yes to exactly this, so an ask is settled; what is forbidden stays so.
        """
        started = self._ports.clock()
        judged = await self._decide(request)
        if isinstance(judged.decision, Ask):
            return Passed(request.call, self._offer(request, judged.decision.names).opening)
        if isinstance(judged.decision, Allow):
            return Passed(request.call)
        outcome = self._settled(request, judged.decision)
        self._note(request, judged, outcome, ("changed", started))
        return outcome

    async def _decide(self, request: Request) -> Judged:
        """Decide with everything known that a decision needs to know."""
        policy, ports = self._policy, self._ports
        facts = request.facts
        call = Call(request.call.name, request.call.input, facts.access, stated=facts.row)
        # Its own, since calls are decided side by side; what was looked up for the tool counts.
        resolver = DiskResolver(policy.place, request.real)
        context = self._context(request, resolver)
        for _ in range(MAX_ROUNDS):
            decision = decide(call, context)
            if not await fetch_missing(resolver, ports.lookup, ports.dirty, ports.keeps):
                policy.resolver.trees = resolver.trees
                return Judged(call, context, decision)
            context = self._context(request, resolver)
        text = "The gate could not gather what it needs to judge this."
        return Judged(call, context, Deny(Reason(Stage.FLOOR, text)))

    def _context(self, request: Request, resolver: DiskResolver) -> Context:
        context = self._policy.context(
            request.where, agent=request.agent, hook=request.hook.word, resolver=resolver
        )
        sandbox = self._ports.sandbox
        return context if sandbox is None else sandbox.judged(context, request.facts.access)

    def _settled(self, request: Request, decision: Allow | Deny) -> Outcome:
        key = f"{request.call.name} {request.facts.target}"
        if isinstance(decision, Allow):
            self._denials.pop(key, None)
            if decision.command:
                narrowed = {**request.call.input, "command": decision.command}
                return Passed(request.call.with_input(narrowed))
            return Passed(request.call, self._offer(request, decision.names).opening)
        count = self._denials.get(key, 0) + 1
        if len(self._denials) > 256:
            self._denials.clear()
        self._denials[key] = count
        text = refusal(decision, request.hook.text)
        return Refused(repeated(text) if count >= DENIALS_BEFORE_HINT else text)

    async def _put(self, request: Request, ask: Ask) -> tuple[Outcome, str] | None:
        """Show the question and turn the answer into an outcome; None: it has to be put anew."""
        if ask.reason.stage is Stage.HUMAN:
            return Passed(request.call), ""  # the tool's whole point is its own question
        offer = self._offer(request, ask.names)
        ask, decided = with_kept(ask, offer.kept), ask
        options = options_for(ask, self._ports.place)
        seen = await request.foreseen()
        if seen.failed is not None:
            return Hopeless(seen.failed), ""
        view = seen.view or request.facts.view
        shown = question(request.call, request.facts, ask, options, view, request.where)
        answer = await self._answered(request, decided, shown)
        if answer is None:
            return None
        return await self._after(request, ask, answer, offer)

    async def _after(
        self, request: Request, ask: Ask, answer: Answer, offer: Offer
    ) -> tuple[Outcome, str]:
        """What an answer does."""
        match _choice(answer, offered=bool(ask.grants)):
            case "once":
                if answer.input is not None:  # judged anew, and opened what that names
                    return Passed(request.call.with_input(answer.input)), "once"
                return Passed(request.call, offer.opening), "once"
            case "always":
                await self._remember(ask.grants)
                return Passed(request.call, offer.opening), "always"
            case "told":
                return Refused(answer.text.strip(), told=True), "told"
            case "no":
                return Refused("The person said no to this call.", ends_turn=True), "no"
            case _:
                return Refused("Nobody answered; the call did not run."), "cancelled"

    async def _answered(self, request: Request, ask: Ask, shown: Question) -> Answer | None:
        """The answer, or None where a switch of the mode made it another question.

        A switch answers nothing: what the new mode would let run still waits for this answer.
        """
        self._switched.clear()
        asking = asyncio.ensure_future(request.ask(shown))
        try:
            while True:
                switched = asyncio.ensure_future(self._switched.wait())
                await asyncio.wait({asking, switched}, return_when=asyncio.FIRST_COMPLETED)
                switched.cancel()
                if not self._switched.is_set():
                    return asking.result()
                self._switched.clear()
                now = (await self._decide(request)).decision
                if isinstance(now, Deny) or (isinstance(now, Ask) and now != ask):
                    return None
        finally:
            asking.cancel()
            await asyncio.wait({asking})

    def _offer(self, request: Request, names: tuple[Named, ...]) -> Offer:
        sandbox = self._ports.sandbox
        return Offer() if sandbox is None else sandbox.offer(request.facts.access, names)

    async def _remember(self, grants: tuple[Grant, ...]) -> None:
        rules = tuple(grant.rule for grant in grants if grant.rule)
        for grant in grants:
            if grant.mode:
                self._ports.mode_changed(self._policy.set(grant.mode))
        for rule in rules:
            self._policy.grant(rule)
        if rules and self._ports.persist is not None:
            await self._ports.persist(rules)

    def _note(
        self, request: Request, judged: Judged, outcome: Outcome, ended: tuple[str, float]
    ) -> None:
        answer, started = ended
        reason = judged.decision.reason
        record = DecisionRecord(
            call_id=request.call.id,
            tool=request.call.name,
            target=request.facts.target,
            behavior="allow" if isinstance(outcome, Passed) else "deny",
            stage=str(reason.stage),
            reason=reason.text,
            rule=reason.rule,
            source=reason.source,
            answer=answer,
            ms=round((self._ports.clock() - started) * 1000),
        )
        self._policy.recent.add(record, judged)
        self._ports.record(record)


def _choice(
    answer: Answer, *, offered: bool
) -> Literal["once", "always", "no", "told", "cancelled"]:
    if answer.cancelled:
        return "cancelled"
    match answer.choice:
        case "once":
            return "once"
        case "always" if offered:
            return "always"
        case _:
            return "told" if answer.text.strip() else "no"
