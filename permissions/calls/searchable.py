"""Which files a search may show: none that a Read rule denies, or asks about and nothing grants.

The call itself was judged by where it searches; what lies below is known only once it is found.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gatewright.permissions.context import Call
from gatewright.permissions.decide import ask_rule, deny_rule, inquiries, trusted_allow
from gatewright.permissions.policy import Policy
from gatewright.tools.access import Access, Effect, Where


def searchable(policy: Policy, where: Where) -> Callable[[str], bool]:
    """Asked for every file found, so paths no rule could be about cost one look at their text."""
    context = policy.context(where)
    rules = context.rules
    denied = context.patterns.group(rules.deny_reads)
    closed = context.patterns.group(rules.closed_reads)
    asked = context.patterns.group(rules.ask_reads)

    def shown(path: str) -> bool:
        if not (denied.maybe(path) or closed.maybe(path) or asked.maybe(path)):
            return True
        access = Access(reads=(Path(path),), effects=Effect.READ_ONLY)
        for inquiry in inquiries(Call("Read", {"file_path": path}, access), context):
            if deny_rule(inquiry) is not None:
                return False
            if ask_rule(inquiry) is not None and trusted_allow(inquiry) is None:
                return False
        return True

    return shown
