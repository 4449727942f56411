"""Which agents were started on the branch that the main agent is on, wherever it went back to.

It is folded from the main agent's events, or read from all that its file holds: behind the last
boundary and off the branch, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import (
    AgentFinished,
    AgentStarted,
    AnyEvent,
    Compacted,
    Envelope,
    Rewound,
    UserMessage,
)
from gatewright.tools.system.regular import open_regular

PLACES = 5_000  # one can go to: each is an input or the end of a branch
AN_ID = re.compile(rb"\ba[0-9a-f]{12}\b")
A_PATH = re.compile(r"main(?:/a[0-9a-f]{12}){1,64}")  # what else is said in a file is nobody
ALWAYS = frozenset({"agent_started", "agent_finished", "rewound"})
OF_AGENTS = frozenset({"user", "tool_finished"})  # where they name one
GOALS = frozenset({"user", "compacted"})  # one can go to before these


class _Link(msgspec.Struct, frozen=True):
    """What happened last on a branch, and what before it."""

    what: str | Envelope
    before: _Link | None


_Place: TypeAlias = tuple[_Link | None, _Link | None]  # starts, and all, up to an event


class Lineage:
    """Follows the branch in constant time."""

    def __init__(self, stored: Iterable[Envelope] = ()) -> None:
        self._now: _Link | None = None
        self._at: dict[str, _Link | None] = {}  # by the events that one can go to
        self._known: set[str] = set()
        for envelope in stored:
            self.saw(envelope)

    @classmethod
    def standing(
        cls, now: _Link | None, at: Mapping[str, _Link | None], known: Iterable[str]
    ) -> Lineage:
        made = cls()
        made._now, made._known = now, set(known)
        for uuid, link in at.items():
            made._goal(uuid, link)
        return made

    def saw(self, envelope: Envelope) -> bool:
        """An event of the main agent; whether it went back with it."""
        match envelope.event:
            case AgentStarted(child=child):
                self._now = _Link(id_of(child), self._now)
                self._known.add(id_of(child))
            case UserMessage() | Compacted():
                self._goal(envelope.parent, self._now)
            case Rewound(to=to, left=left):
                self._goal(left, self._now)
                self._now = self._at.get(to)
                return True
            case _:
                pass
        return False

    def elsewhere(self) -> frozenset[str]:
        """Of those that were started on other branches only."""
        return frozenset(self._known) - self.here()

    def here(self) -> frozenset[str]:
        """The ids of those that were started on this branch."""
        return frozenset(what for what in _oldest_first(self._now) if isinstance(what, str))

    def _goal(self, uuid: str, link: _Link | None) -> None:
        if uuid and uuid not in self._at:
            self._at[uuid] = link
            if len(self._at) > PLACES:
                del self._at[next(iter(self._at))]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """All that is stored of agents that the main one started."""

    branch: tuple[Envelope, ...]  # its whole branch: what is about agents there
    lineage: Lineage
    starts: Mapping[str, AgentStarted]  # wherever they are, by path
    ends: Mapping[str, AgentFinished]  # of the last run


def told(stored: Iterable[Envelope]) -> Told:
    """Of a conversation that has no file."""
    branch = tuple(stored)
    starts, ends = dict[str, AgentStarted](), dict[str, AgentFinished]()
    for envelope in branch:
        _note(envelope.event, starts, ends)
    return Told(branch=branch, lineage=Lineage(branch), starts=starts, ends=ends)


def told_in(path: Path) -> Told:
    """Of a file, in one pass over it. Raises OSError."""
    starts, ends = dict[str, AgentStarted](), dict[str, AgentFinished]()
    at: dict[str, _Place] = {}
    goals: list[str] = []
    first: _Place = (None, None)
    place = first
    with open_regular(path) as file:
        for line in file:
            try:
                mark = wire.mark(line)
                envelope = wire.decode(line) if _about_agents(mark.type, line) else None
            except wire.WireError:
                continue
            # what hangs on a line that was lost hangs on the one before it
            place = at.get(mark.parent_uuid, place) if mark.parent_uuid else first
            if mark.type in GOALS:
                goals.append(mark.parent_uuid)
            if envelope is not None:
                event = envelope.event
                if isinstance(event, Rewound):
                    goals.append(event.left)
                begun, every = place
                if isinstance(event, AgentStarted):
                    begun = _Link(id_of(event.child), begun)
                _note(event, starts, ends)
                place = begun, _Link(envelope, every)
            at[mark.uuid] = place
    known = {uuid: at[uuid][0] for uuid in goals if uuid in at}
    branch = (what for what in _oldest_first(place[1]) if isinstance(what, Envelope))
    lineage = Lineage.standing(place[0], known, map(id_of, starts))
    return Told(branch=tuple(branch), lineage=lineage, starts=starts, ends=ends)


def id_of(child: str) -> str:
    return child.rpartition("/")[2]


def is_path(child: str) -> bool:
    return A_PATH.fullmatch(child) is not None


def _about_agents(type: str, line: bytes) -> bool:
    return type in ALWAYS or (type in OF_AGENTS and AN_ID.search(line) is not None)


def _note(event: AnyEvent, starts: dict[str, AgentStarted], ends: dict[str, AgentFinished]) -> None:
    if isinstance(event, AgentStarted) and is_path(event.child):
        starts[event.child] = event
        ends.pop(event.child, None)
    elif isinstance(event, AgentFinished):
        ends[event.child] = event


def _oldest_first(link: _Link | None) -> list[str | Envelope]:
    found: list[str | Envelope] = []
    while link is not None:
        found.append(link.what)
        link = link.before
    return found[::-1]
