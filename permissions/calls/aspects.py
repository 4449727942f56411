"""The facts of a call, each judged on its own: what runs, what is written, who is talked to.

A call is known by what it declared, never by its name. What a fact does not cover, and a call that
declared nothing, is judged as unknown, which asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec.structs import replace

from gatewright.permissions.decision import Allow, Ask, Decision, Deny, Grant, Reason, Stage
from gatewright.tools.access import Access, Effect, Family


def aspects(access: Access) -> tuple[Family, ...]:
    """At least one; several only where a tool declared several kinds of fact."""
    facts: tuple[tuple[Family, bool], ...] = (
        ("shell", access.runs is not None),
        ("web", bool(access.urls)),
        ("mcp", access.remote is not None),
        ("edit", bool(access.writes)),
        ("read", bool(access.reads)),
        ("skill", access.kind == "skill"),
        ("slash", access.kind == "command"),
        ("workflow", access.kind == "workflow"),
    )
    found: tuple[Family, ...] = tuple([family for family, stated in facts if stated])
    found = (*found, *_of_effects(access.effects, found))
    if access.unattended and "other" not in found:  # it is asked about, whatever else it states
        found = (*(family for family in found if family != "free"), "other")
    return found or _UNKNOWN


_UNKNOWN: tuple[Family, ...] = ("other",)


@lru_cache(maxsize=256)
def _of_effects(effects: Effect, found: tuple[Family, ...]) -> tuple[Family, ...]:
    """What the effects add: "other" is what no other fact speaks for, "free" counts alone."""
    more: list[Family] = []
    if Effect.AGENT in effects:
        more.append("agent")
    if Effect.HUMAN in effects:
        more.append("human")
    judged = set(found)
    talks = Effect.OPEN_WORLD in effects and not judged & {"mcp", "web"}
    loses = Effect.DESTRUCTIVE in effects and not judged & {"mcp", "edit"}
    if talks or loses or Effect.MOVES in effects:  # what is inside is another place then
        more.append("other")
    if not found and not more and Effect.FREE in effects:
        more.append("free")
    return tuple(more)


def insisted(access: Access, decision: Decision) -> Decision:
    """Whatever would let it run: where its tool insists, a person answers."""
    if not access.insist or isinstance(decision, Deny):
        return decision
    return Ask(Reason(Stage.FLOOR, access.insist), explicit=True)


def strictest(decisions: Sequence[Decision]) -> Decision:
    """One answer for all aspects of a call: nothing is granted that one of them does not grant."""
    if len(decisions) == 1:
        return decisions[0]
    for decision in decisions:
        if isinstance(decision, Deny):
            return decision
    asks = [decision for decision in decisions if isinstance(decision, Ask)]
    if asks:
        return _asked(asks)
    allows = [decision for decision in decisions if isinstance(decision, Allow)]
    return replace(
        allows[0],
        note=" ".join(one.note for one in allows if one.note),
        command=next((one.command for one in allows if one.command), ""),
    )


def _asked(asks: Sequence[Ask]) -> Ask:
    """One question for all; a tool's own question to the person does not stand for the gate's."""
    first = min(asks, key=lambda ask: ask.reason.stage is Stage.HUMAN)
    texts = dict.fromkeys(ask.reason.text for ask in (first, *asks))
    grants: tuple[Grant, ...] = ()
    if all(ask.grants for ask in asks):
        grants = tuple(dict.fromkeys(grant for ask in asks for grant in ask.grants))
    return replace(
        first,
        reason=replace(first.reason, text=" ".join(texts)),
        grants=grants,
        explicit=any(ask.explicit for ask in asks),
        answerer="human" if any(ask.answerer == "human" for ask in asks) else "classifier",
        lacking=tuple(dict.fromkeys(part for ask in asks for part in ask.lacking)),
    )
