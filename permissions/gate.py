"""Everything around the pure decision: hooks before it, a person or nobody after it.

Prompts are shown one at a time (`prompt_queue.py`); a queued one is decided again when its turn
comes, so an "always" or a mode change settles what it covers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from gatewright.permissions.context import Call, Context
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import (
    Allow,
    Ask,
    Decision,
    DecisionRecord,
    Deny,
    Grant,
    Named,
    Reason,
    Stage,
)
from gatewright.permissions.machine.world import DiskResolver, fetch_missing
from gatewright.permissions.policy import Policy
from gatewright.permissions.prompt_queue import PromptQueue
from gatewright.permissions.recent import Judged, Put
from gatewright.permissions.request import GatePorts, Hopeless, Outcome, Passed, Refused, Request
from gatewright.permissions.rulebook.grants import (
    STOPPED,
    always_of,
    choice_of,
    options_for,
    question,
    refusal,
    repeated,
    unkept,
    with_kept,
)
from gatewright.permissions.sandbox.port import Offer, Opening
from gatewright.permissions.standing_in import (
    by_classifier,
    first_answer,
    in_reach,
    open_to_others,
    opinion,
    overtaken,
    to_put,
    unjudged,
    word_of,
)
from gatewright.tools.interact import Answer
from gatewright.tools.interact import Ask as Question
from gatewright.tools.protocol import ToolResult

if TYPE_CHECKING:  # nobody listens or stands in in most sessions
    from gatewright.tools.moments import PersonNeeded, Verdict

MAX_ROUNDS = 3
Person: TypeAlias = Callable[[], Awaitable[Answer]]
DENIALS_BEFORE_HINT = 3


class _Switched(Exception):
    """The mode changed, and with it what is asked."""


class Gate:
    """Authorises calls for one session."""

    def __init__(self, policy: Policy, ports: GatePorts) -> None:
        self._policy = policy
        self._ports = ports
        self._queue = PromptQueue(ports.urgent, ports.waits)
        self._switched = asyncio.Event()  # the mode is another one while a question stands
        policy.watch(lambda _: self._switched.set())

    async def prepared(self, request: Request) -> Verdict | None:
        """What those who listen say before anything is decided."""
        if request.moments is None:
            return None
        from gatewright.tools.moments import CallPrepared  # noqa: PLC0415  lazy: somebody listens

        return await request.moments.at(
            CallPrepared(
                agent=request.agent,
                call=request.call,
                access=request.facts.access,
                mode=self._policy.view(request.agent).mode,
            )
        )

    async def authorize(self, request: Request) -> Outcome:
        """Decide, ask if need be, record how it ended."""
        started = self._ports.clock()
        judged = await self._classified(request, await self._decide(request))
        outcome, answer = self._settled(request, judged.decision), ""
        if outcome is None:
            async with self._queue.turn(request.agent):
                request.stood(self._ports.clock() - started)
                put = await self._put(request, judged := await self._now(request, judged))
                while put is None:  # under another mode it is another question, or none
                    judged = await self._decide(request)
                    put = await self._put(request, judged)
                outcome, answer = put
        if not isinstance(outcome, Hopeless):  # it fails, as if it had run: nothing was decided
            self._note(request, judged, outcome, (answer, started))
        return await self._denied(request, outcome, answer)

    async def _now(self, request: Request, judged: Judged) -> Judged:
        """As it is when its turn comes; a classifier is not asked twice."""
        again = await self._decide(request)
        classified = judged.decision.reason.stage is Stage.CLASSIFIER
        return judged if classified and isinstance(again.decision, Ask) else again

    async def _classified(self, request: Request, judged: Judged) -> Judged:
        """What a classifier makes of an ask that may be its; asked while nobody waits for it."""
        ports, classify, ask = self._ports, self._ports.classify(), judged.decision
        if not isinstance(ask, Ask) or ask.answerer != "classifier":
            return judged
        alone = not self._policy.interactive
        if classify is None:
            return replace(judged, decision=unjudged(ask)) if alone else judged
        from gatewright.permissions.calls.situation import pending  # noqa: PLC0415  lazy: for a classifier

        view = self._policy.view(request.agent)
        mode, switches = view.mode, self._policy.switches
        said = await opinion(classify, await pending(request, judged, mode, ports))
        again = await self._decide(request)
        if again.decision == ask and (view.mode, self._policy.switches) == (mode, switches):
            return replace(judged, decision=by_classifier(said, ask, alone=alone))
        return replace(again, decision=overtaken(again.decision, alone=alone))

    async def _denied(self, request: Request, outcome: Outcome, answer: str) -> Outcome:
        """Those who listen hear of a refusal that was no person's, and may add to its text."""
        person = answer in ("no", "stop", "told", "cancelled")
        if request.moments is None or person or not isinstance(outcome, Refused):
            return outcome
        from gatewright.tools.moments import CallDenied  # noqa: PLC0415  lazy: somebody listens

        moment = CallDenied(agent=request.agent, call=request.call, reason=outcome.message)
        verdict = await request.moments.at(moment)
        return replace(outcome, message="\n".join((outcome.message, *verdict.context)))

    async def hopeless(self, request: Request) -> ToolResult | None:
        """How the call would fail; nothing is looked at for one that is denied anyway."""
        if not request.facts.access.writes or request.facts.access.runs is not None:
            return None
        if isinstance((await self._decide(request)).decision, Deny):
            return None
        return (await request.foreseen()).failed

    async def changed(self, request: Request) -> Outcome:
        """Judge the input that who answered put in place of the asked one: an ask is settled, what
        is forbidden stays so. Only a person's yes opens files.
        """
        started = self._ports.clock()
        judged = await self._decide(request)
        if request.narrowed and judged.decision.reason.stage is Stage.NON_INTERACTIVE:
            return Passed(request.call)  # the same ask, where nobody is: less than was allowed
        if isinstance(judged.decision, Ask):
            if request.stood_in and not open_to_others(judged.decision):
                return await self.authorize(replace(request, moments=None))
            if request.stood_in or request.narrowed:
                return Passed(request.call)
            return Passed(request.call, self._offer(request, judged.decision.names).opening)
        if isinstance(judged.decision, Allow):
            if request.stood_in:  # no person has looked: searches leave out what rules are about
                return self._ended(request, judged.decision)
            return Passed(request.call)
        outcome = self._ended(request, judged.decision)
        self._note(request, judged, outcome, ("changed", started))
        return outcome

    async def _decide(self, request: Request) -> Judged:
        """Decide with everything known that a decision needs to know."""
        policy, ports = self._policy, self._ports
        facts = request.facts
        access = facts.access
        call = Call(
            request.call.name, request.call.input, access, typed=access.typed, stated=facts.row
        )
        # Its own, since calls are decided side by side; what was looked up for the tool counts.
        resolver = DiskResolver(policy.grounds.of(request.where.root)[0], request.real)
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
            request.where, agent=request.agent, hook=word_of(request.heard), resolver=resolver
        )
        sandbox = self._ports.sandbox
        return context if sandbox is None else sandbox.judged(context, request.facts.access)

    def _settled(self, request: Request, decision: Decision) -> Outcome | None:
        """How it ends without anybody being asked; None: somebody has to be."""
        if self._to_put(request, decision) is not None:
            return None
        return self._ended(request, decision) if not isinstance(decision, Ask) else None

    def _ended(self, request: Request, decision: Allow | Deny) -> Outcome:
        view = self._policy.view(request.agent)
        key = f"{request.call.name} {request.facts.target}"
        if isinstance(decision, Allow):
            view.granted(key)
            if decision.command:
                narrowed = {**request.call.input, "command": decision.command}
                return Passed(request.call.with_input(narrowed), narrowed=True)
            return Passed(request.call, self._offer(request, decision.names).opening)
        heard = request.heard
        text = refusal(decision, "" if heard is None else heard.text)
        if heard is not None and heard.word == "stop":
            return Refused(text, stopped=heard.text or text)
        text = repeated(text) if view.refused(key) >= DENIALS_BEFORE_HINT else text
        return Refused(text, barred=decision.barred, shown=decision.shown)

    def _to_put(self, request: Request, decision: Decision) -> Ask | None:
        return to_put(decision, heard_by=request.moments, answered=request.answered)

    async def _put(self, request: Request, judged: Judged) -> tuple[Outcome, str] | None:
        """Show the question and turn the answer into an outcome; None: it has to be put anew."""
        decision = judged.decision
        ask = self._to_put(request, decision)
        if ask is None or isinstance(decision, Allow):
            assert not isinstance(decision, Ask)
            return self._ended(request, decision), ""
        if ask.reason.stage is Stage.HUMAN:
            # The tool's whole point is its own question.
            return Passed(request.call), "hook" if request.answered else ""
        offer = self._offer(request, ask.names)
        for told in (request.said("ask"), request.rewritten, offer.kept):
            ask = with_kept(ask, told)
        seen = await request.foreseen()
        if seen.failed is not None:
            return Hopeless(seen.failed), ""
        options = options_for(ask, self._ports.place, request.agent)
        view = seen.view or request.facts.view
        shown = question(request.call, request.facts, ask, options, view, request.where)
        shown = replace(shown, always=always_of(ask, self._ports.place))
        if request.rewritten:
            shown = replace(shown, rewritten=dict(request.call.input))
        self._policy.put = Put(request.call.id, request.agent, judged)
        person = partial(request.ask, shown) if isinstance(decision, Ask) else None
        try:
            answer = await self._awaited(
                request, decision, self._asked(request, ask, person, shown)
            )
        except _Switched:
            return None
        if answer is None:  # nobody there, and nobody said anything
            assert isinstance(decision, Deny)
            return self._ended(request, decision), ""
        if not isinstance(answer, Answer):
            return await self._stood_in(request, answer, ask.grants), "hook"
        return await self._answered(request, ask, offer.opening, answer)

    async def _answered(
        self, request: Request, ask: Ask, opening: Opening, answer: Answer
    ) -> tuple[Outcome, str]:
        match choice_of(answer, ask):
            case "once":
                if answer.input is not None:  # judged anew, and opened what that names
                    return Passed(request.call.with_input(answer.input)), "once"
                return Passed(request.call, opening), "once"
            case "always":
                consent = any(grant.session for grant in ask.grants)  # which is no rule
                grants = () if consent else tuple(map(Grant, answer.rules))
                grants = grants or ask.grants
                if problem := self._unkept(request, answer):
                    return Refused(unkept(problem)), "cancelled"
                await self._remember(grants, answer.place)
                return Passed(request.call, opening), "always"
            case "told":
                return Refused(answer.text.strip(), told=True), "told"
            case "no":
                return self._policy.view(request.agent).declined(request.agent), "no"
            case "stop":
                return Refused(STOPPED, ends_turn=True), "stop"
            case _:
                return Refused("Nobody answered; the call did not run."), "cancelled"

    def _unkept(self, request: Request, answer: Answer) -> str:
        """Why the person's own rules are not kept: settings may have changed meanwhile."""
        if not answer.rules:
            return ""
        return self._policy.weigh(request.call.id, answer.rules).problem

    async def _asked(
        self, request: Request, ask: Ask, person: Person | None, shown: Question
    ) -> Answer | Verdict | None:
        """The answer of whoever is first; None: nobody is there, and nobody said anything."""
        if request.moments is None:
            return await request.ask(shown)
        return await first_answer(request.moments, self._needed(request, ask), ask, person)

    async def _awaited(
        self,
        request: Request,
        decided: Decision,
        answering: Coroutine[Any, Any, Answer | Verdict | None],
    ) -> Answer | Verdict | None:
        """The answer. Raises _Switched where a switch of the mode made it another question.

        A switch answers nothing: what the new mode would let run still waits for this answer.
        """
        self._switched.clear()
        asking = asyncio.ensure_future(answering)
        try:
            while True:
                switched = asyncio.ensure_future(self._switched.wait())
                await asyncio.wait({asking, switched}, return_when=asyncio.FIRST_COMPLETED)
                switched.cancel()
                if not self._switched.is_set():
                    return asking.result()
                self._switched.clear()
                now = (await self._decide(request)).decision
                if isinstance(now, Deny) or (isinstance(now, Ask) and now != decided):
                    raise _Switched
        finally:
            asking.cancel()
            await asyncio.wait({asking})

    def _needed(self, request: Request, ask: Ask) -> PersonNeeded:
        from gatewright.tools.moments import PersonNeeded  # noqa: PLC0415  lazy: somebody listens

        return PersonNeeded(
            agent=request.agent,
            call=request.call,
            access=request.facts.access,
            mode=self._policy.view(request.agent).mode,
            suggestions=tuple(grant.rule for grant in ask.grants if grant.rule),
            modes=tuple(grant.mode for grant in ask.grants if grant.mode),
        )

    async def _stood_in(
        self, request: Request, verdict: Verdict, grants: tuple[Grant, ...]
    ) -> Outcome:
        """Opens nothing besides: only a person says yes to single files."""
        if verdict.word != "allow":
            text = f"A hook refused this call. {verdict.text}".rstrip()
            return Refused(text, stopped=text if verdict.word == "stop" else "")
        policy = self._policy
        await self._remember(tuple(grant for grant in grants if grant.rule in verdict.always))
        for rule in {grant.rule for grant in grants}.intersection(verdict.session):
            policy.grant(rule)
        if mode := in_reach(verdict.mode, policy.current(), policy.after):
            self._ports.mode_changed(policy.set(mode))
        if verdict.input is None:
            return Passed(request.call)
        return Passed(request.call.with_input(verdict.input), stood_in=True)

    def _offer(self, request: Request, names: tuple[Named, ...]) -> Offer:
        sandbox = self._ports.sandbox
        return Offer() if sandbox is None else sandbox.offer(request.facts.access, names)

    async def _remember(self, grants: tuple[Grant, ...], place: str = "") -> None:
        rules = tuple(grant.rule for grant in grants if grant.rule and not grant.session)
        for grant in grants:
            if grant.mode:
                self._ports.mode_changed(self._policy.set(grant.mode))
            if grant.session:
                self._policy.consented |= {grant.rule}
        for rule in rules:
            self._policy.grant(rule)
        if rules and place != "session" and self._ports.persist is not None:
            await self._ports.persist(rules, place)

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
            reason=f"{reason.text} {request.rewritten}".rstrip(),
            rule=reason.rule,
            source=reason.source,
            answer=answer,
            ms=round((self._ports.clock() - started) * 1000),
            judged=judged.decision.judged,
            agent=request.agent,
        )
        self._policy.recent.add(record, judged)
        self._ports.record(record)
