"""A decision with its trace: every stage in order, and what it said."""

from __future__ import annotations

from dataclasses import dataclass

from gatewright.permissions.context import Call, Context
from gatewright.permissions.decide import STAGES, decide, inquire
from gatewright.permissions.decision import Allow, Ask, Decision, Deny


@dataclass(frozen=True, slots=True)
class Step:
    """`said` is empty where the stage had nothing to say and the next one was asked."""

    stage: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """`decision` is what `decide` returns: who answers an ask is settled after the stages."""

    decision: Decision
    steps: tuple[Step, ...]


def explain(call: Call, context: Context) -> Explanation:
    """Judge the call once for the decision and once more, stage by stage, for the trace."""
    decision = decide(call, context)
    inquiry = inquire(call, context)
    steps: list[Step] = []
    for stage in STAGES:
        name = stage.__name__.replace("_", " ")
        said = stage(inquiry)
        if said is not None:
            steps.append(Step(name, f"{behavior(said)}: {said.reason.text}"))
            break
        steps.append(Step(name))
    last = f"{behavior(decision)}: {decision.reason.text}"
    if steps[-1].said != last:
        steps.append(Step("who answers", last))
    return Explanation(decision, tuple(steps))


def behavior(decision: Decision) -> str:
    match decision:
        case Allow():
            return "allow"
        case Deny():
            return "deny"
        case Ask():
            return "ask"
