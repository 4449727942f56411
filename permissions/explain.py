"""The decision, stage by stage, for people: what each stage saw and which one settled it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from gatewright.permissions.calls.aspects import strictest
from gatewright.permissions.check import Unreadable, call_and_context, shown
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decide import FAILURES, STAGES, failed, finish
from gatewright.permissions.decision import Allow, Ask, Decision, Deny, Reason, Stage
from gatewright.permissions.inquiry import Inquiry, inquiries
from gatewright.tools.access import Family

TITLES: Mapping[str, str] = {
    "hook_denies": "hooks",
    "impossible": "paths and addresses",
    "deny_rule": "deny rules",
    "human_tool": "questions to you",
    "mode_gate": "mode gate",
    "own_memory": "its own memory",
    "floor": "hard floor",
    "trusted_allow": "trusted allow rules",
    "skip_switch": "skip switches",
    "safety": "safety",
    "ask_rule": "ask rules",
    "bypass": "bypass",
    "untrusted_allow": "untrusted allow rules",
    "mode_strategy": "mode",
}

ASPECTS: Mapping[Family, str] = {
    "shell": "a command", "web": "an address", "mcp": "a tool of a server", "edit": "a change",
    "read": "reading", "skill": "a skill", "slash": "a slash command", "workflow": "a workflow",
    "agent": "an agent", "human": "a question", "other": "what it does not say more about",
}  # fmt: skip


def trace(call: Call, context: Context) -> tuple[list[str], Decision]:
    """One line per stage that was reached, and the decision. Never raises."""
    lines: list[str] = []
    found: list[Decision] = []
    try:
        judged = tuple(inquiries(call, context))
        for inquiry in judged:
            if len(judged) > 1:
                lines.append(f"as {ASPECTS[inquiry.subject.family]}:")
            found.append(_traced(inquiry, lines))
    except FAILURES as error:
        decision = failed(error, context)
        return [*lines, f"> {decision.reason.text}"], decision
    decision = strictest(found)
    if len(found) > 1:
        lines.append(f"all together: {_word(decision)}. {decision.reason.text}")
    return [*lines, *_offers(decision)], decision


def _traced(inquiry: Inquiry, lines: list[str]) -> Decision:
    for stage in STAGES:
        title = TITLES[stage.__name__]
        decision = stage(inquiry)
        if decision is None:
            lines.append(f"  {title}: nothing to say")
            continue
        lines.append(f"> {title}: {_word(decision)}. {decision.reason.text}")
        ended = finish(inquiry, decision)
        if ended.reason.stage is not decision.reason.stage:
            lines.append(f"> nobody to ask: {_word(ended)}. {ended.reason.text}")
        return ended
    raise AssertionError("the mode stage always decides")


def _word(decision: Decision) -> str:
    match decision:
        case Allow():
            return "allow"
        case Deny():
            return "deny"
        case Ask():
            return "ask"


def _offers(decision: Decision) -> Iterator[str]:
    if isinstance(decision, Ask):
        if decision.lacking:
            yield "  without a rule: " + " · ".join(decision.lacking)
        stored = [grant.rule or f"mode {grant.mode}" for grant in decision.grants]
        yield f'  "always" would store: {", ".join(stored)}' if stored else '  no "always"'


def compare(
    case: Mapping[str, Any], judged: tuple[Call, Context] | None = None, refused: str = ""
) -> tuple[bool, str]:
    """One test of a project's own: whether it holds, and a line to print about it.

    `judged` is the case as it counts in the sandbox of here, `refused` why that runs it never.
    """
    identity = case.get("id") or "?"
    expected: object = case.get("expect")
    if not isinstance(expected, dict) or not expected:
        raise Unreadable(f"{identity}: 'expect' is missing")
    lines, decision = trace(*(judged or call_and_context(case)))
    if refused:
        decision = Deny(Reason(Stage.SAFETY, refused))
        lines.append(f"> sandbox: deny. {refused}")
    got = shown(identity, decision)
    wrong = [
        f"{key}: expected {value!r}, got {got.get(key)!r}"
        for key, value in case["expect"].items()
        if not _same(key, value, got.get(key))
    ]
    if not wrong:
        return True, f"ok    {identity}"
    return False, "\n".join([f"WRONG {identity}: {'; '.join(wrong)}", *lines])


def _same(key: str, expected: object, got: object) -> bool:
    if key == "stored" and isinstance(expected, list) and isinstance(got, list):
        wanted, found = cast("list[object]", expected), cast("list[object]", got)
        return sorted(map(str, wanted)) == sorted(map(str, found))
    return expected == got


def mined(asked: Sequence[tuple[str, int]], *, least: int = 2) -> list[tuple[str, int]]:
    """Rules that past answers suggest: those that "always" would have stored, by how often."""
    counts: dict[str, int] = {}
    for rule, times in asked:
        counts[rule] = counts.get(rule, 0) + times
    chosen = [(rule, times) for rule, times in counts.items() if times >= least]
    return sorted(chosen, key=lambda row: (-row[1], row[0]))
