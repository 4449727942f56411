"""Which control sequences of somebody else a terminal may get: titles, notifications and bells.

Nothing that moves, erases, asks or switches anything, and no more of it than a person could want.
"""

from __future__ import annotations

import re

LONGEST = 4_000
_KNOWN = re.compile(r"(?:\x07|\x1b\](?:0|1|2|9|99|777);[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\))+")


def allowed(text: str) -> str:
    """The text where all of it is that; else nothing."""
    return text if len(text) <= LONGEST and _KNOWN.fullmatch(text) else ""
