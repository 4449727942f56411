"""The rules of a session as people look at them: where each comes from, what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from gatewright.permissions.modes import Strip
from gatewright.permissions.paths import Place
from gatewright.permissions.rulebook.known_tools import unknown
from gatewright.permissions.rulebook.meaning import meaning
from gatewright.permissions.rulebook.rules import (
    ALWAYS_TRUSTED,
    OF_PROJECT,
    SOURCES,
    Behavior,
    Rule,
    RuleSet,
    RuleTexts,
    cited,
    parse_rule,
    stripped_in_auto,
    too_broad,
    tool_of,
)

Mark: TypeAlias = Literal["", "invalid", "unknown", "ignored", "shadowed"]


class ListedRule(msgspec.Struct, frozen=True):
    """`about` is the sentence behind the mark, or what the rule does."""

    behavior: Behavior
    text: str
    source: str
    mark: Mark = ""
    about: str = ""


def listed(
    texts: Mapping[str, RuleTexts], rules: RuleSet, place: Place, *, trusted: bool, strip: Strip
) -> list[ListedRule]:
    """Every rule as written, the strongest source first, those that are built in last."""
    from gatewright.permissions.rulebook.shadowed import shadows  # noqa: PLC0415  lazy: 20 ms

    over = {_key(rule): deny for rule, deny in shadows(rules)}
    found: list[ListedRule] = []
    for source, behavior, text in _entries(texts):
        if told := unknown(tool_of(text)):
            found.append(ListedRule(behavior, text, source, "unknown", told))
            continue
        rule, problem = parse_rule(text, behavior, source)
        if rule is None or problem:
            wrong = sentence(problem, text, behavior, source)
            found.append(ListedRule(behavior, text, source, "invalid", wrong))
            continue
        mark, about = _standing(rule, trusted=trusted, strip=strip)
        deny = over.get(_key(rule))
        if deny is not None and not mark:
            mark, about = "shadowed", f"Never counts: deny {deny.text} ({deny.source}) forbids it."
        found.append(ListedRule(behavior, text, source, mark, about or meaning(rule, place)))
    built_in = (rule for rule in rules.ask if rule.source == "builtin")
    found += (ListedRule("ask", r.text, r.source, "", meaning(r, place)) for r in built_in)
    return found


def sentence(problem: str, text: str, behavior: Behavior, source: str) -> str:
    """What is wrong, without the rule that stands beside it anyway."""
    return "It" + problem.removeprefix(cited(text, behavior, source))


def _entries(texts: Mapping[str, RuleTexts]) -> Iterator[tuple[str, Behavior, str]]:
    for source in (*SOURCES, *(name for name in texts if name not in SOURCES)):
        for behavior, text in texts.get(source, RuleTexts()).labelled():
            yield source, behavior, text


def _standing(rule: Rule, *, trusted: bool, strip: Strip) -> tuple[Mark, str]:
    if rule.behavior != "allow":
        return "", ""
    if strip and stripped_in_auto(rule, strip):
        return "ignored", "Auto mode leaves it out: a judge looks at what it would let run."
    believed = rule.source in ALWAYS_TRUSTED or (trusted and rule.source in OF_PROJECT)
    if not believed and too_broad(rule):
        return "ignored", "It is too broad for a project that you do not trust."
    return "", ""


def _key(rule: Rule) -> tuple[str, str, str]:
    return rule.behavior, rule.text, rule.source
