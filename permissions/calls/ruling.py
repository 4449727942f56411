"""Which rule speaks about a tool of a server whatever it is called with: for people to see."""

from __future__ import annotations

from gatewright.permissions.calls.named_call import NamedCall
from gatewright.permissions.context import Call, Context
from gatewright.permissions.rulebook.rules import Rule
from gatewright.tools.access import Access


def ruling(tool: str, access: Access, context: Context) -> Rule | None:
    """In the order of a decision: what denies, what allows where nothing asks, what asks."""
    subject = NamedCall(Call(tool, {}, access), context, "mcp")
    if (denied := subject.denied()) is not None:
        return denied
    permit = subject.trusted(hook=False)
    return permit.rule if permit is not None else subject.asked()
