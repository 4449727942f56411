"""Verdicts that hold a while: an allow until something happened, a no until the person speaks."""

from __future__ import annotations

import msgspec

from gatewright.agent.auto.entries import meant
from gatewright.tools.classify import Opinion, Pending

KEPT = 128


class Reuse:
    def __init__(self) -> None:
        self._allowed: dict[bytes, Opinion] = {}
        self._denied: dict[bytes, Opinion] = {}
        self._newest = ("", b"")  # the call that was judged last
        self._spoken = self._acted = 0  # how often so far

    @property
    def now(self) -> tuple[int, int]:
        return self._spoken, self._acted

    def find(self, pending: Pending) -> Opinion | None:
        key = _key(pending)
        return self._denied.get(key) or self._allowed.get(key)

    def keep(self, pending: Pending, opinion: Opinion, since: tuple[int, int]) -> None:
        """`since` is the `now` of when it was asked for: what came in between is not in it."""
        spoken, acted = since
        if spoken != self._spoken or (opinion.word == "allow" and acted != self._acted):
            return
        kept = {"allow": self._allowed, "deny": self._denied}.get(opinion.word)
        if kept is None:
            return
        if len(kept) >= KEPT:
            kept.clear()
        kept[_key(pending)] = opinion
        self._newest = (pending.call.id, _key(pending))

    def acted(self, call_id: str) -> None:
        """Something ran that may have changed what an allow was about; not its own call."""
        self._acted += 1
        id, key = self._newest
        own = self._allowed.get(key) if id == call_id else None
        self._allowed = {key: own} if own is not None else {}

    def spoken(self) -> None:
        """The person said something, or wrote it down."""
        self._spoken += 1
        self._allowed.clear()
        self._denied.clear()


def _key(pending: Pending) -> bytes:
    """The same for a call that does the same, whatever it says of itself."""
    runs = pending.access.runs
    place = str(runs.cwd) if runs is not None else ""
    does = meant(pending.call.name, pending.call.input)
    parts = (pending.agent, pending.mode, pending.call.name, place, does, pending.facts)
    return msgspec.json.encode(parts, order="deterministic")
