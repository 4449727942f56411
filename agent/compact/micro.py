"""Which old tool results the model can do without: the cheap step before any summary."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gatewright.agent.compact.estimate import content_tokens
from gatewright.agent.record.messages import AssistantTurn, CallPart, ResultTurn, Turn
from gatewright.agent.turn.valid_history import CLEARED_RESULT

# What can be looked up again. Data: tools named here need not exist.
CLEARABLE = frozenset({
    "Read", "Bash", "Grep", "Glob", "WebFetch", "WebSearch", "Edit", "MultiEdit", "Write",
    "NotebookEdit", "TaskOutput",
})  # fmt: skip
NEWEST = 5  # results that always stay
LEAST = 100  # tokens; a shorter result is not worth a placeholder


class Clearing(msgspec.Struct, frozen=True):
    call_ids: tuple[str, ...]
    tokens: int


def old_results(turns: Sequence[Turn]) -> Clearing:
    """Everything that could be cleared, oldest first, and what it would free."""
    names: dict[str, str] = {}
    results: list[ResultTurn] = []
    for turn in turns:
        if isinstance(turn, AssistantTurn):
            calls = (part for part in turn.parts if isinstance(part, CallPart))
            names.update((call.id, call.name) for call in calls)
        elif isinstance(turn, ResultTurn) and names.get(turn.call_id) in CLEARABLE:
            results.append(turn)
    ids: list[str] = []
    tokens = 0
    for result in results[:-NEWEST]:
        size = content_tokens(result.content)
        if size > LEAST and result.content != (CLEARED_RESULT,):
            ids.append(result.call_id)
            tokens += size
    return Clearing(tuple(ids), tokens)
