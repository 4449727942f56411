"""Which protected places a line's operands mean, and what a question says of them."""

from __future__ import annotations

from collections.abc import Iterable

from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.reach import Reach

NAMED = 8  # in one sentence


def tier(operand: Operand, reach: Reach) -> str:
    """The strongest protection of what the operand may mean."""
    found: set[str] = set()
    for located in reach.locations(operand.arg, operand.bases):
        if operand.arg.patterns:
            found.add(reach.paths.glob_tier(located.lexical))
        found.add(reach.paths.tier(located))
        if operand.whole:
            found.add(reach.paths.tier_below(located))
    return "A" if "A" in found else "B" if "B" in found else ""


def would_change(operands: Iterable[tuple[Operand, bool]], reach: Reach) -> str:
    """A sentence that names every protected operand that is written, or ''."""
    changed = [one for one, written in operands if written and tier(one, reach)]
    names = list(dict.fromkeys(operand.arg.text for operand in changed))
    if not names:
        return ""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    which = "which is protected" if len(names) == 1 else "which are protected"
    return f"It would change {', '.join(names[:NAMED])}{more}, {which}."
