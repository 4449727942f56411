"""A rule while it is being typed: whether it is one, what it would be about, what it would fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from gatewright.permissions.context import Context
from gatewright.permissions.decide import FAILURES
from gatewright.permissions.inquiry import inquiries
from gatewright.permissions.paths import Place
from gatewright.permissions.recent import Judged
from gatewright.permissions.rulebook import tools_table
from gatewright.permissions.rulebook.known_tools import unknown
from gatewright.permissions.rulebook.listed import ListedRule, sentence
from gatewright.permissions.rulebook.meaning import meaning
from gatewright.permissions.rulebook.rules import (
    Behavior,
    Rule,
    RuleSet,
    parse_rule,
    stripped_in_auto,
    tool_of,
)
from gatewright.permissions.rulebook.shadowed import shadows

NEW = "session"
TRIED = 20  # of the last calls
NAMED = 3


class Proposed(msgspec.Struct, frozen=True):
    """`text` is what it would do, or why it is no rule; `hints` are worth knowing before."""

    valid: bool
    text: str
    hints: tuple[str, ...] = ()


class Standing(msgspec.Struct, frozen=True):
    """What a new rule comes into."""

    place: Place
    rules: RuleSet
    listed: Sequence[ListedRule]
    recent: Sequence[Judged]  # the newest first


def proposed(behavior: Behavior, text: str, standing: Standing) -> Proposed:
    if not text.strip():
        return Proposed(False, "A tool, or a tool with what it is about: Bash(npm test), WebFetch.")
    rule, problem = parse_rule(text, behavior, NEW)
    if rule is None or problem:
        told = sentence(problem, text, behavior, NEW)
        name = unknown(tool_of(text))
        return Proposed(False, told, (name,) if name else ())
    return Proposed(True, meaning(rule, standing.place), tuple(_hints(rule, standing)))


def _hints(rule: Rule, standing: Standing) -> Iterable[str]:
    same = [one for one in standing.listed if one.text == rule.text]
    for one in same:
        yield f"There is {one.behavior} {one.text} already ({one.source})."
    over = next(shadows(replace(standing.rules, trusted=(rule,), untrusted=(), ask=())), None)
    if rule.behavior != "deny" and over is not None:
        yield f"It would never count: deny {over[1].text} ({over[1].source}) forbids it."
    if name := unknown(rule.tool):
        yield name
    if rule.behavior == "allow" and stripped_in_auto(rule):
        yield "What it allows can run any code."
    if fitting := [one for one in standing.recent[:TRIED] if fits(rule, one)]:
        targets = dict.fromkeys(_target(one) for one in fitting)
        names = " · ".join(list(targets)[:NAMED])
        more = f" and {len(targets) - NAMED} more" if len(targets) > NAMED else ""
        yield f"Of the last calls it fits {names}{more}."


def fits(rule: Rule, judged: Judged) -> bool:
    """Whether the rule alone would have settled this call; a failure to judge fits nothing."""
    grants = rule.behavior == "allow"
    alone = (
        RuleSet(trusted=(rule,))
        if grants
        else RuleSet(deny=(msgspec.structs.replace(rule, behavior="deny"),))
    )
    context: Context = msgspec.structs.replace(judged.context, rules=alone, hook="")
    try:
        subjects = [inquiry.subject for inquiry in inquiries(judged.call, context)]
        if not grants:
            return any(subject.denied() is not None for subject in subjects)
        permits = [subject.trusted(hook=False) for subject in subjects]
        return all(permit is not None and permit.rule is not None for permit in permits)
    except FAILURES:
        return False


def _target(judged: Judged) -> str:
    value = judged.call.input.get(tools_table.row(judged.call.tool).field, judged.call.tool)
    line = " ".join(str(value).split())
    return line if len(line) <= 40 else line[:39] + "…"
