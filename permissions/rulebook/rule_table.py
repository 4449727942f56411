"""Every rule in force as rows, and sentences about those that are wrong or never count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gatewright.permissions.rulebook.rules import SOURCES, Rule, RuleSet, RuleTexts
from gatewright.permissions.rulebook.shadowed import sentence, shadows
from gatewright.tools.blocks import Block, Table, Text


def rule_table(
    texts: Mapping[str, RuleTexts],
    rules: RuleSet,
    built_in: Sequence[Rule],
    problems: Sequence[str],
) -> list[Block]:
    """By source, the strongest first; in each what denies before what asks and allows."""
    rows: list[tuple[str, ...]] = []
    for source in (*SOURCES, *(name for name in texts if name not in SOURCES)):
        for behavior, text in texts.get(source, RuleTexts()).labelled():
            rows.append((behavior, text, source))
    rows.extend(("deny", rule.text, "builtin") for rule in rules.closed_reads)
    rows.extend(("ask", rule.text, "builtin") for rule in built_in)
    blocks: list[Block] = [Table(("behavior", "rule", "source"), tuple(rows))]
    blocks.extend(Text(problem, "warning") for problem in problems)
    blocks.extend(Text(sentence(*pair), "warning") for pair in shadows(rules))
    return blocks
