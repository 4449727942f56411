"""The denials of our own that nothing lifts: keys, other sessions, all that we keep for ourselves.

They follow from the table of our home; no source of rules, mode or answer takes one back.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gatewright.permissions.rulebook.rules import PathForm, Rule, RuleSet
from gatewright.tools.system.home import OwnHome


def with_closed(rules: RuleSet, own: OwnHome | None) -> RuleSet:
    """What this session may read is excepted."""
    if own is None:
        return rules
    return replace(rules, closed_reads=_closed("Read", own), closed_edits=_closed("Edit", own))


def _closed(tool: str, own: OwnHome) -> tuple[Rule, ...]:
    excepted = tuple(_literal(path).lstrip("/") for path in own.excepted())
    return tuple(
        Rule(
            f"{tool}({path}/**)",
            "deny",
            "builtin",
            tool,
            PathForm(f"/{_literal(path)}/**", excepted),
        )
        for path in own.closed()
    )


def _literal(path: str) -> str:
    """A path as a pattern that means nothing else."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", path)
