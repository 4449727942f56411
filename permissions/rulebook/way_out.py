"""What a model is told that was refused because nobody is there to ask: what would permit it."""

from __future__ import annotations

from gatewright.permissions.decision import Ask, Stage
from gatewright.permissions.inquiry import Inquiry


def way_out(inquiry: Inquiry, ask: Ask) -> str:
    if inquiry.subject.family == "human":
        if inquiry.call.tool == "ExitPlanMode":
            return "Nobody is here to approve: the text of your plan is the answer."
        return "Nobody is here to answer: decide yourself and say what you assumed."
    grants = () if ask.explicit else inquiry.subject.grants()
    rules = ", ".join(grant.rule for grant in grants if grant.rule)
    if rules:
        return f"Nobody is here to ask; the rule {rules} would permit it."
    if any(grant.mode for grant in grants):
        return "Nobody is here to ask; --permission-mode acceptEdits would permit it."
    if ask.reason.stage is Stage.MODE and not (ask.explicit or inquiry.plan):
        return "Nobody is here to ask; no rule is suggested for it, but one of your own permits it."
    return "Nobody is here to ask, and no flag permits it short of a person's answer."
