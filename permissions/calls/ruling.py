"""Which rule speaks about something before there is a call of it, or in the midst of one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gatewright.permissions.calls.named_call import NamedCall
from gatewright.permissions.calls.subject import covers_tool
from gatewright.permissions.context import Call, Context
from gatewright.permissions.rulebook.rules import NameForm, Rule, cited
from gatewright.tools.access import Access


def restricting(
    tool: str, names: Iterable[str], context: Context, behaviors: Collection[str]
) -> str:
    """The rule that denies the tool one of these names, or asks about it, in words; or empty."""
    folded = {name.casefold() for name in names}
    for rule in (*context.rules.deny, *context.rules.ask):
        if rule.behavior in behaviors and isinstance(rule.form, NameForm):
            name = rule.form.name.removeprefix("/").casefold()
            if name in folded and covers_tool(rule, tool):
                return cited(rule.text, rule.behavior, rule.source)
    return ""


def ruling(tool: str, access: Access, context: Context) -> Rule | None:
    """For a tool of a server, whatever it is called with, in the order of a decision: what denies,
    what allows where nothing asks, what asks."""
    subject = NamedCall(Call(tool, {}, access), context, "mcp")
    if (denied := subject.denied()) is not None:
        return denied
    permit = subject.trusted(hook=False)
    return permit.rule if permit is not None else subject.asked()
