"""Who may answer in a person's place, and how far: hooks beside the prompt, a classifier before it.

Neither settles what a person has to decide: the floor, ask rules, and asks that somebody forced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from gatewright.permissions.context import HookWord
from gatewright.permissions.decision import Allow, Ask, Decision, Deny, Grant, Reason, Stage
from gatewright.permissions.modes import MODES, canonical
from gatewright.tools.interact import Answer
from gatewright.tools.interact import Ask as Question
from gatewright.tools.protocol import Asker, JsonObject

if TYPE_CHECKING:  # nobody stands in in most sessions
    from gatewright.tools.classify import Classify, Opinion, Pending
    from gatewright.tools.moments import Moments, PersonNeeded, Verdict

ALONE = 1.0  # seconds in which those who listen may answer before a person is shown the prompt
CLASSIFYING = 30.0  # above every limit a classifier sets itself
NO_OPINION = "Nothing judged this call, and nobody is here to ask. Wait, or do other work."


def word_of(verdict: Verdict | None) -> HookWord:
    """As a decision takes it; what is put off is not decided."""
    match "" if verdict is None else verdict.word:
        case "stop" | "defer":
            return "deny"
        case "" | "allow" | "ask" | "deny" as word:
            return word


def open_to_others(ask: Ask) -> bool:
    return not ask.explicit and ask.reason.stage in (Stage.SAFETY, Stage.MODE)


def settles(verdict: Verdict, ask: Ask) -> bool:
    """A refusal always counts; a yes only where a person is not the one who has to say it."""
    if verdict.word in ("deny", "stop"):
        return True
    return verdict.word == "allow" and open_to_others(ask)


async def first_answer(
    moments: Moments, moment: PersonNeeded, ask: Ask, person: Callable[[], Awaitable[Answer]] | None
) -> Answer | Verdict | None:
    """Whoever is first; those who listen have a moment alone. None: nobody is there."""
    listening = asyncio.ensure_future(moments.at(moment))
    asking: asyncio.Future[Answer] | None = None
    try:
        if person is None:
            verdict = await listening
            return verdict if settles(verdict, ask) else None
        await asyncio.wait({listening}, timeout=ALONE)
        if listening.done() and settles(listening.result(), ask):
            return listening.result()
        asking = asyncio.ensure_future(person())
        if not listening.done():
            await asyncio.wait({listening, asking}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done() and settles(listening.result(), ask):
                return listening.result()
        return await asking
    finally:
        left: list[asyncio.Future[Any]] = [
            task for task in (listening, asking) if task is not None and not task.done()
        ]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def opinion(classify: Classify, pending: Pending, limit: float = CLASSIFYING) -> Opinion:
    try:
        return await asyncio.wait_for(classify(pending), limit)
    except TimeoutError:
        from gatewright.tools.classify import Opinion  # noqa: PLC0415  lazy: only with a classifier

        return Opinion(text=f"The judge did not answer within {limit:g} s.")


def in_reach(mode: str, of: str, after: Callable[[str], str]) -> str:
    """The mode's id where going on from one to the next leads there; else nothing."""
    wanted = canonical(mode) or ""
    for _ in MODES:
        if of == wanted:
            return wanted
        of = after(of)
    return ""


def in_their_place(input: JsonObject, person: Asker) -> Asker:
    """Answers what a tool asks the person from what somebody said for them; the rest is asked."""
    given = input.get("answers")
    answers = cast("dict[str, object]", given) if isinstance(given, dict) else {}

    async def ask(question: Question) -> Answer:
        if question.kind == "plan":
            plan = input.get("plan")
            other = {"plan": plan} if isinstance(plan, str) and plan.strip() else None
            return Answer((question.options[0].id,), input=other)
        said = answers.get(question.title)
        if question.kind != "question" or not isinstance(said, str | list) or not said:
            return await person(question)
        known = {option.id for option in question.options}
        several = cast("list[object]", said) if isinstance(said, list) else [said]
        parts = tuple(map(str, several))
        if question.multiple and not known.issuperset(parts):
            parts = tuple(", ".join(parts).split(", "))
        if known.issuperset(parts):
            return Answer(parts)
        return Answer(text=", ".join(parts))

    return ask


def to_put(decision: Decision, *, heard_by: Moments | None, answered: bool = False) -> Ask | None:
    """The question to be put, to a person or, with none there, to those who listen."""
    if isinstance(decision, Ask):
        return decision
    if isinstance(decision, Deny) and heard_by is not None:
        asked = decision.asked
        if asked is not None and (answered or asked.reason.stage is not Stage.HUMAN):
            return asked
    return None


def unjudged(ask: Ask, text: str = "") -> Deny:
    return Deny(_classified(f"{NO_OPINION} {text}"), asked=ask)


def overtaken(now: Decision, *, alone: bool) -> Decision:
    """What was decided meanwhile counts, not an opinion on what was before."""
    if alone and isinstance(now, Ask) and now.answerer == "classifier":
        return unjudged(now, "What was asked changed while it was judged.")
    return now


def by_classifier(said: Opinion, ask: Ask, *, alone: bool) -> Decision:
    """Its verdict as a decision; without one a person answers, once at a time."""
    text = said.text
    match said.word:
        case "allow":
            return Allow(_classified(f"The judge allows it. {text}"), judged=said.judged)
        case "deny":
            return _refused(said, "The judge refuses it.")
        case "ask" if alone:
            return _refused(said, "The judge leaves it to a person, and nobody is here.")
        case _ if alone:
            return replace(unjudged(ask, text), judged=said.judged)
        case _:
            grants = ask.grants if said.word == "ask" else _leaving(said)
            plain = ask.reason.stage is Stage.MODE  # which says no more than that it asks
            reason = _classified(text if plain else f"{ask.reason.text} {text}")
            return replace(ask, reason=reason, grants=grants, answerer="human", judged=said.judged)


def _refused(said: Opinion, why: str) -> Deny:
    told = " ".join(filter(None, (why, said.text, said.permits)))
    shown = said.text or why
    return Deny(_classified(told), judged=said.judged, barred=said.stops, shown=shown)


def _leaving(said: Opinion) -> tuple[Grant, ...]:
    """Where nothing judges, a person says yes once, or goes on in another mode."""
    return (Grant(mode=said.leave),) if said.leave else ()


def _classified(text: str) -> Reason:
    return Reason(Stage.CLASSIFIER, text.rstrip())
