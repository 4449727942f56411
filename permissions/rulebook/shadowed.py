"""Rules that never count, because a deny rule forbids all that they are about.

Says so only where it is certain: a rule that is left out here may still be shadowed.
"""

from __future__ import annotations

from collections.abc import Iterator

from gatewright.permissions.calls.subject import covers_tool
from gatewright.permissions.rulebook.rules import (
    Bare,
    DomainForm,
    Form,
    NameForm,
    ParamForm,
    PathForm,
    Rule,
    RuleSet,
    ShellForm,
    SlashForm,
)
from gatewright.permissions.shell.rules.matching import glob_matches


def shadows(rules: RuleSet) -> Iterator[tuple[Rule, Rule]]:
    """Each allow or ask rule that cannot count, with the first deny rule that forbids it all."""
    for rule in (*rules.trusted, *rules.untrusted, *rules.ask):
        if rule.source == "builtin":
            continue
        found = next((deny for deny in rules.deny if _forbids_all(deny, rule)), None)
        if found is not None:
            yield rule, found


def sentence(rule: Rule, deny: Rule) -> str:
    return (
        f"{rule.behavior} {rule.text} ({rule.source}) never counts: "
        f"{deny.text} ({deny.source}) denies all of it."
    )


def _forbids_all(deny: Rule, rule: Rule) -> bool:
    if isinstance(deny.form, Bare):
        return covers_tool(deny, rule.tool)
    return deny.tool == rule.tool and contains(deny.form, rule.form)


def contains(wide: Form, narrow: Form) -> bool:
    match wide, narrow:
        case ShellForm(), ShellForm():
            return _shell_contains(wide, narrow)
        case PathForm(pattern=outer), PathForm(pattern=inner):
            return outer == inner or (outer.endswith("/**") and inner.startswith(outer[:-2]))
        case DomainForm(host=outer, subdomains=below), DomainForm(host=inner, subdomains=also):
            return not outer or inner.endswith(f".{outer}") or (inner == outer and also >= below)
        case (NameForm(), NameForm()) | (SlashForm(), SlashForm()) | (ParamForm(), ParamForm()):
            return wide == narrow
        case _:
            return False


def _shell_contains(wide: ShellForm, narrow: ShellForm) -> bool:
    if narrow.kind == "glob":
        return wide == narrow
    text = " ".join(narrow.text.split())
    match wide.kind:
        case "exact":
            return narrow.kind == "exact" and " ".join(wide.text.split()) == text
        case "prefix":
            return text == wide.text or text.startswith(wide.text + " ")
        case "glob":
            ends_open = narrow.kind == "exact" or wide.text.endswith("*")
            return ends_open and glob_matches(wide.text, text)
