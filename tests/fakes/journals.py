"""Journals for tests, with the folds that a test wants."""

from __future__ import annotations

from collections.abc import Callable

from gatewright.agent.record.events import AnyEvent
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import Fold, Journal


def journal(
    *folds: Fold,
    clock: Callable[[], float] = lambda: 1.0,
    ids: Callable[[], str] = new_id,
    stamp: Callable[[AnyEvent, str], AnyEvent] = lambda event, agent: event,
) -> Journal:
    """One that has begun."""
    made = Journal(clock=clock, new_id=ids, stamp=stamp)
    made.begin(folds)
    return made
