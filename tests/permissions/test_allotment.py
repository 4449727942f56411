"""A project's files may bring so many rules; those beyond restrict more, and grant nothing."""

from __future__ import annotations

import re

import pytest

from gatewright.permissions.paths import Place
from gatewright.permissions.rulebook import known_tools, patterns
from gatewright.permissions.rulebook.allotment import MOST, allotted
from gatewright.permissions.rulebook.patterns import PatternGroup, compile_pattern
from gatewright.permissions.rulebook.rules import PathForm, RuleTexts, parse_rule, rule_set

PLACE = Place(root="/p", cwd="/p", start="/p", home="/home/me")


def many(rule: str, count: int) -> tuple[str, ...]:
    return tuple(rule.replace("N", str(number)) for number in range(count))


def test_what_is_beyond_counts_for_the_whole_tool_and_is_told_once() -> None:
    denied = (*many("Read(aN)", MOST), "Bash(rm:*)", "edit(x)", "Edit(y)", "mcp__a__b")
    rules = rule_set(allotted({"project": RuleTexts(deny=denied)}), trusted=False)
    assert [rule.text for rule in rules.deny[MOST:]] == ["Bash", "Edit", "mcp__*"]
    (told,) = rules.problems
    assert "the other 4 (project) say counts for all of Bash, Edit, mcp__*" in told


def test_a_name_of_no_tool_beyond_it_forbids_all() -> None:
    denied = (*many("Read(aN)", MOST), *many("ToolN(x)", 3))
    rules = rule_set(allotted({"claude-local": RuleTexts(deny=denied)}), trusted=False)
    assert [rule.tool for rule in rules.deny[MOST:]] == ["*"]


@pytest.mark.parametrize("behavior", ["ask", "deny"])
def test_all_files_of_a_project_share_one_room(behavior: str) -> None:
    given = RuleTexts(**{behavior: many("Bash(aN)", MOST)})
    rules = rule_set(allotted({"project": given, "claude-project": given}), trusted=False)
    texts = [rule.text for rule in (*rules.deny, *rules.ask) if rule.source != "builtin"]
    assert texts == [*many("Bash(aN)", MOST), "Bash"]


def test_alternatives_in_braces_count_each() -> None:
    denied = many("Read({a,b}N)", MOST)
    rules = rule_set(allotted({"project": RuleTexts(deny=denied)}), trusted=False)
    assert len(rules.deny) == MOST // 2 + 1
    assert rules.deny[-1].text == "Read"


def test_grants_beyond_it_are_ignored() -> None:
    allowed = many("Edit(src/aN)", MOST + 2)
    rules = rule_set(allotted({"local": RuleTexts(allow=allowed)}), trusted=True)
    assert len(rules.trusted) == MOST
    (told,) = rules.problems
    assert "the other 2 (local) say is ignored" in told


def test_what_is_the_persons_own_has_no_limit() -> None:
    mine = {"user": RuleTexts(deny=many("Bash(aN)", MOST * 2))}
    assert allotted(mine) == mine


def test_no_expression_is_made_for_a_path_that_no_rule_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[tuple[str, ...]] = []

    def counted(globs: tuple[str, ...]) -> re.Pattern[str]:
        made.append(globs)
        return re.compile("")

    monkeypatch.setattr(patterns, "_compiled", counted)
    rules = [parse_rule(text, "deny", "user")[0] for text in many("Read(secretN/**)", 10)]
    group = PatternGroup(
        tuple(
            (rule, compile_pattern(rule.form, PLACE, builtin=False, real=str))
            for rule in rules
            if rule is not None and isinstance(rule.form, PathForm)
        )
    )
    assert not group.maybe("/p/src/a.py")
    assert made == []
    assert group.maybe("/p/secret1/a")


def test_names_of_no_tool_are_told_in_time_that_grows_with_their_number() -> None:
    looked: list[str] = []

    def counted(name: str) -> str:
        looked.append(name)
        return f"No tool is called {name}."

    texts = {"project": RuleTexts(deny=(*many("Fooo[N", 300), *many("BarN", 300)))}
    problems = rule_set(texts, trusted=True).problems
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_tools, "unknown", counted)
        told = known_tools.remarks(texts, problems)
    assert len(looked) == known_tools.TOLD
    assert len(told) == known_tools.TOLD + 1
