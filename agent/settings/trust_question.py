"""The question whether a project's own configuration may act, asked once when a session opens."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.settings.hook_layers import said
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.schema import COMMITTED
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Text
from gatewright.tools.interact import Ask, Option

TRUST, GO_ON, LEAVE = "trust", "continue", "exit"
SHOWN = 200  # all of them, as a rule: the question scrolls
VALUE_SHOWN = 4000


def would_act(loaded: Loaded) -> tuple[str, ...]:
    """What of the project's configuration counts only once it is trusted, one line each."""
    lines = [
        f"{problem.key} = {_cut(problem.value)} (in {problem.where})"
        for problem in loaded.problems
        if problem.level == "untrusted"
    ]
    for source, rules in (*loaded.rules.items(), *loaded.legacy.items()):
        if source in COMMITTED:
            lines += [f"allow {rule} ({source} settings)" for rule in rules.allow]
    lines += [f"hook {text}" for each in loaded.hooks if each.committed for text in said(each)]
    return tuple(map(escaped, lines))


def _cut(value: str) -> str:
    return value if len(value) <= VALUE_SHOWN else value[: VALUE_SHOWN - 1] + "…"


def question(around: Surroundings) -> Ask | None:
    """What to ask, or None where there is nothing to trust or nobody to ask."""
    lines = would_act(around.loaded)
    if around.trusted or not around.interactive or not lines:
        return None
    return Ask(
        kind="trust",
        title=f"Do you trust {around.where.root}?",
        body=(Text(_listed(lines)),),
        options=(
            Option(TRUST, "Trust it: these settings count from now on", "y"),
            Option(GO_ON, "Go on without: they are ignored", "n"),
            Option(LEAVE, "Leave", "q", leaves=True),
        ),
        reason="Its settings would let commands run or change how the agent works.",
    )


def notice(around: Surroundings) -> str:
    """The one line where nobody can be asked."""
    lines = would_act(around.loaded)
    if around.trusted or around.interactive or not lines:
        return ""
    one = "One setting of this project is"
    count = one if len(lines) == 1 else f"{len(lines)} settings of this project are"
    return (
        f"{count} ignored because it is not trusted; "
        "--trust counts them this time, `agent trust add` from now on."
    )


def _listed(lines: Sequence[str]) -> str:
    shown = list(lines[:SHOWN])
    if len(lines) > SHOWN:
        shown.append(f"and {len(lines) - SHOWN} more")
    return "\n".join(shown)
