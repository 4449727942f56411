"""Who may answer in a person's place, and how far: hooks beside the prompt, a classifier before it.

Neither settles what a person has to decide: the floor, ask rules, and asks that somebody forced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gatewright.permissions.context import HookWord
from gatewright.permissions.decision import Allow, Ask, Decision, Deny, Reason, Stage
from gatewright.tools.interact import Answer

if TYPE_CHECKING:  # nobody stands in in most sessions
    from gatewright.tools.classify import Classify, Opinion, Pending
    from gatewright.tools.moments import Moments, PersonNeeded, Verdict

ALONE = 1.0  # seconds in which those who listen may answer before a person is shown the prompt
CLASSIFYING = 30.0  # above every limit a classifier sets itself
NO_OPINION = "Nothing judged this call, and nobody is here to ask. Wait, or do other work."


def word_of(verdict: Verdict | None) -> HookWord:
    """As a decision takes it. What cannot be put off here is asked, never let through."""
    match "" if verdict is None else verdict.word:
        case "defer":
            return "ask"
        case "stop":
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

        return Opinion(text=f"The classifier did not answer within {limit:g} s.")


def to_put(decision: Decision, *, heard_by: Moments | None) -> Ask | None:
    """The question to be put, to a person or, with none there, to those who listen."""
    if isinstance(decision, Ask):
        return decision
    if isinstance(decision, Deny) and heard_by is not None:
        asked = decision.asked
        return asked if asked is not None and asked.reason.stage is not Stage.HUMAN else None
    return None


def unjudged(ask: Ask, text: str = "") -> Deny:
    return Deny(_classified(f"{NO_OPINION} {text}"), asked=ask)


def by_classifier(said: Opinion, ask: Ask, *, alone: bool) -> Decision:
    """Its verdict as a decision; without one a person answers, once at a time."""
    text = said.text
    match said.word:
        case "allow":
            return Allow(
                Reason(Stage.CLASSIFIER, f"The classifier allows it. {said.text}".rstrip())
            )
        case "deny":
            return Deny(
                Reason(Stage.CLASSIFIER, f"The classifier refuses it. {said.text}".rstrip())
            )
        case _ if alone:
            return unjudged(ask, text)
        case _:
            grants = ask.grants if said.word == "ask" else ()
            reason = _classified(f"{ask.reason.text} {text}")
            return replace(ask, reason=reason, grants=grants, answerer="human")


def _classified(text: str) -> Reason:
    return Reason(Stage.CLASSIFIER, text.rstrip())
