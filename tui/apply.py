"""Puts a reduced batch on the screen: records to the transcript, the rest to its widgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from gatewright.tui.state import Appended, Change, Emptied, Marked, Patched, Removed, Returned
from gatewright.tui.transcript.view import Transcript


def apply(transcript: Transcript, changes: Sequence[Change]) -> None:
    """One repaint for the whole batch."""
    for change in compact(changes):
        match change:
            case Appended(item=item):
                transcript.append(item)
            case Patched(item=item):
                transcript.patch(item)
            case Removed(id=id):
                transcript.discard(id)
            case Emptied():
                transcript.empty()
            case Marked(uuid=uuid):
                transcript.records.mark(uuid)
            case Returned(to=to):
                transcript.rewind(to)
            case _:
                assert_never(change)
    if changes:
        transcript.sync()


def compact(changes: Sequence[Change]) -> list[Change]:
    """Without patches that a later patch of the same batch replaces."""
    last = {c.item.id: n for n, c in enumerate(changes) if isinstance(c, Patched)}
    return [c for n, c in enumerate(changes) if not isinstance(c, Patched) or last[c.item.id] == n]
