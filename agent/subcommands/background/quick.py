"""`agent bg` and `agent ps` without what other sub-commands load: they are to come back at once."""

from __future__ import annotations

import os
from collections.abc import Sequence

QUICK = frozenset({"bg", "ps"})
HELP = frozenset({"--help", "-h"})
FLAGS = frozenset({"--all", "--json"})


def quick(arguments: Sequence[str]) -> int | None:
    """None where it is not so simple: help, a mistake, `agent bg clean`. Raises GatewrightError."""
    name, *words = arguments
    if name == "ps" and FLAGS.issuperset(words):
        from gatewright.agent.settings.paths import own_home  # noqa: PLC0415  lazy: 5 ms
        from gatewright.agent.subcommands.background.sessions_shown import show  # noqa: PLC0415

        show(own_home(os.environ), all_="--all" in words, as_json="--json" in words)
        return 0
    if name == "bg" and words != ["clean"] and not HELP.intersection(words):
        from gatewright.agent.subcommands.background.beginning_bg import begin  # noqa: PLC0415

        begin(words)
        return 0
    return None
